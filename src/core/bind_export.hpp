// Values per query as bytes: lines of text and columns of Arrow, without a Python object for each of them.
#pragma once
#include <nanobind/nanobind.h>

namespace gg {

void bind_export(nanobind::module_& m);

}  // namespace gg
