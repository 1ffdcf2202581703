// Packed rows for Python: what engines on several machines need of the core.
#pragma once
#include <nanobind/nanobind.h>

namespace gg {

void bind_packed(nanobind::module_& m);

}  // namespace gg
