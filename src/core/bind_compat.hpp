// What the drop-ins for other tools and `explain` need of the core.
#pragma once
#include <nanobind/nanobind.h>

namespace gg {

void bind_compat(nanobind::module_& m);

}  // namespace gg
