// Traces and identity for Python.
#pragma once
#include <nanobind/nanobind.h>

namespace gg {

void bind_traces(nanobind::module_& m);

}  // namespace gg
