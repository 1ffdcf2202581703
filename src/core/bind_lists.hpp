// Bindings for the top ranks of runs.
#pragma once
#include <nanobind/nanobind.h>

namespace gg {

void bind_lists(nanobind::module_& m);

}  // namespace gg
