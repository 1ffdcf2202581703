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

bool is_no_number(PyObject* value) {
  constexpr std::string_view package = "numpy.";
  std::string_view type = Py_TYPE(value)->tp_name;
  if (!type.starts_with(package)) return false;
  type.remove_prefix(package.size());
  if (type == "timedelta64" || type == "datetime64") return true;
  if (type.starts_with("complex") || type.starts_with("clongdouble")) return true;
  if (type != "ndarray") return false;
  const std::string kind = nb::cast<std::string>(nb::handle(value).attr("dtype").attr("kind"));
  return std::string_view("mMcSU").find(kind) != std::string_view::npos;
}

std::string python_repr(nb::handle object) {
  PyObject* repr = PyObject_Repr(object.ptr());
  if (!repr) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) throw nb::python_error();  // Ctrl-C
    PyErr_Clear();
    return std::string("an object of type ") + Py_TYPE(object.ptr())->tp_name;
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
