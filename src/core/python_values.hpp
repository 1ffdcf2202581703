// Python values to values of the core and back.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bytes.hpp"
#include "parallel.hpp"

namespace gg {

/// Handles pending signals; throws what a handler raises, such as KeyboardInterrupt. Takes the GIL.
void handle_signals();

/// Native work without the GIL, which signals still stop.
class Unlocked {
  nanobind::gil_scoped_release release_;
  Polling polling_{&handle_signals};
};

/// The same where the work may be long: for little of it, this would cost more than it gains.
class UnlockedIf {
 public:
  explicit UnlockedIf(bool is_long) {
    if (is_long) unlocked_.emplace();
  }

 private:
  std::optional<Unlocked> unlocked_;
};

/// For long loops that need the GIL: lets other threads run and handles signals, every few milliseconds. Whatever
/// the loop does not own may be gone afterwards.
class Breather {
 public:
  void operator()() {
    if (++steps_ % 64 == 0) look();
  }
  /// The same for steps that take milliseconds each.
  void look();

 private:
  uint64_t steps_ = 0;
  int64_t next_ = 0;
};

/// Bytes as a Python string; ids that are not UTF-8 keep their bytes (surrogateescape).
nanobind::str to_python(Bytes text);

/// The reverse: the bytes of a Python string that PyUnicode_AsUTF8 cannot encode. Throws nb::python_error.
nanobind::object to_bytes(nanobind::handle text);
inline Bytes bytes_of(const nanobind::object& bytes) {
  return {PyBytes_AsString(bytes.ptr()), static_cast<size_t>(PyBytes_Size(bytes.ptr()))};
}

/// Calls `use(Bytes)` with the bytes of a Python string.
template <class Use>
void with_bytes(nanobind::handle text, Use&& use) {
  Py_ssize_t size;
  if (const char* utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) return use(Bytes(utf8, static_cast<size_t>(size)));
  PyErr_Clear();
  use(bytes_of(to_bytes(text)));
}

/// A Python string as an argument: bytes, whatever they are.
struct Text {
  std::string bytes;
};

/// Whether numpy offers a number for what is none: a duration, a date, a complex number, or text in an array. The
/// types are known by their names, since numpy is not loaded for this.
bool is_no_number(PyObject* value);

/// repr(object), shortened for a message.
std::string python_repr(nanobind::handle object);

/// A list of Python strings.
template <class Texts>
nanobind::list string_list(const Texts& texts) {
  nanobind::list list;
  Breather breathe;
  for (size_t i = 0; i < texts.size(); ++i) {
    list.append(to_python(texts[i]));
    breathe();
  }
  return list;
}

/// A numpy array that takes over the memory of a vector.
template <class T>
nanobind::object numpy_array(std::vector<T> values) {
  auto* owned = new std::vector<T>(std::move(values));
  const nanobind::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nanobind::cast(
      nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(owned->data(), {owned->size()}, owner));
}

}  // namespace gg

namespace nanobind::detail {

template <>
struct type_caster<gg::Text> {
  NB_TYPE_CASTER(gg::Text, const_name("str"))

  bool from_python(handle text, uint8_t, cleanup_list*) noexcept {
    if (!PyUnicode_Check(text.ptr())) return false;
    try {
      gg::with_bytes(text, [this](gg::Bytes bytes) { value.bytes = bytes; });
      return true;
    } catch (...) {  // a surrogate that is no byte, or no memory
      return false;
    }
  }
};

}  // namespace nanobind::detail
