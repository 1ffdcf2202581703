// Bindings for packed rows, which engines on several machines exchange.
#pragma once
#include <nanobind/nanobind.h>

namespace gg {

void bind_packed(nanobind::module_& m);

}  // namespace gg
