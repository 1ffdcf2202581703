// Bindings for resampling and fusion.
#pragma once
#include <nanobind/nanobind.h>

namespace gg {

void bind_stats(nanobind::module_& m);

}  // namespace gg
