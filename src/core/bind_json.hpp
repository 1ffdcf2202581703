// Bindings for Python objects as JSON.
#pragma once

#include <nanobind/nanobind.h>

namespace gg {

void bind_json(nanobind::module_& m);

}  // namespace gg
