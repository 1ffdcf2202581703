// Bindings for keyword search.
#pragma once
#include <nanobind/nanobind.h>

namespace gg {

void bind_keywords(nanobind::module_& m);

}  // namespace gg
