// Bindings for Parquet files that the core reads itself.
#pragma once
#include <nanobind/nanobind.h>

namespace gg {

void bind_parquet(nanobind::module_& m);

}  // namespace gg
