// Bindings for traces and identity.
#pragma once
#include <nanobind/nanobind.h>

namespace gg {

void bind_traces(nanobind::module_& m);

}  // namespace gg
