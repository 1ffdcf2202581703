// Bindings for the drop-in replacements of other tools and for `explain`.
#pragma once
#include <nanobind/nanobind.h>

namespace gg {

void bind_compat(nanobind::module_& m);

}  // namespace gg
