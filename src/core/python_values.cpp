#include "python_values.hpp"

#include <algorithm>
#include <chrono>

namespace nb = nanobind;

namespace gg {

void handle_signals() {
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void Breather::look() {
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count();
  if (next_ && now >= next_) {
    {
      const nb::gil_scoped_release others;
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  if (!next_ || now >= next_) next_ = now + 5;
}

nb::str to_python(Bytes text) {
  PyObject* result = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  if (!result) throw nb::python_error();
  return nb::steal<nb::str>(result);
}

nb::object to_bytes(nb::handle text) {
  PyObject* bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape");
  if (!bytes) throw nb::python_error();
  return nb::steal(bytes);
}

/// Without its module. The stable ABI does not show what a type is made of.
static std::string name_of_type(nb::handle value) {
  PyObject* name = PyType_GetName(Py_TYPE(value.ptr()));
  if (!name) throw nb::python_error();
  return nb::cast<std::string>(nb::steal(name));
}

bool is_no_number(PyObject* value) {
  const std::string type = name_of_type(value);
  const bool is_array = type == "ndarray";
  if (!is_array && type != "timedelta64" && type != "datetime64" && !type.starts_with("complex") &&
      !type.starts_with("clongdouble"))
    return false;
  const nb::object module = nb::getattr(nb::handle(value).type(), "__module__", nb::none());
  if (!nb::isinstance<nb::str>(module) || nb::cast<std::string>(module) != "numpy") return false;
  if (!is_array) return true;
  const std::string kind = nb::cast<std::string>(nb::handle(value).attr("dtype").attr("kind"));
  return std::string_view("mMcSU").find(kind) != std::string_view::npos;
}

std::string python_repr(nb::handle object) {
  PyObject* repr = PyObject_Repr(object.ptr());
  if (!repr) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) throw nb::python_error();  // Ctrl-C
    PyErr_Clear();
    return "an object of type " + name_of_type(object);
  }
  const nb::object owner = nb::steal(repr);
  Py_ssize_t size;
  const char* text = PyUnicode_AsUTF8AndSize(repr, &size);
  if (!text) {
    PyErr_Clear();
    return "an id that is not valid text";
  }
  return std::string(text, static_cast<size_t>(std::min<Py_ssize_t>(size, 80)));
}

}  // namespace gg
