// The first ranks of runs, for Python.
#pragma once
#include <nanobind/nanobind.h>

namespace gg {

void bind_lists(nanobind::module_& m);

}  // namespace gg
