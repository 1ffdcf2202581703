// The members of a dictionary, a few ahead of their memory.
#pragma once
#include <Python.h>

#include <cstddef>

namespace gg {

/// Calls `use(key, value)` with members from `place` on while they are plain text and numbers, reading which runs no
/// Python code, so that borrowed references stay valid as long as `use` keeps the GIL. Keys and values lie all over the
/// memory: it is asked for before they are used. `pause`, where the GIL may be given up, is called in between. Returns
/// the place of the first other member, or of the end.
template <class Use, class Pause>
Py_ssize_t each_plain_member(PyObject* dict, Py_ssize_t place, Use&& use, Pause&& pause) {
  constexpr size_t ahead = 16;
  PyObject *keys[ahead], *values[ahead];
  Py_ssize_t places[ahead];
  while (true) {
    size_t n = 0;
    for (Py_ssize_t next = place; n < ahead && PyDict_Next(dict, &next, &keys[n], &values[n]); ++n) {
      places[n] = next;
#if defined(__GNUC__)
      __builtin_prefetch(keys[n]);
      __builtin_prefetch(reinterpret_cast<const char*>(keys[n]) + 48);  // where the text of a string begins
      __builtin_prefetch(values[n]);
#endif
    }
    for (size_t i = 0; i < n; ++i) {
      if (!PyUnicode_CheckExact(keys[i]) || !(PyFloat_CheckExact(values[i]) || PyLong_CheckExact(values[i])))
        return place;
      use(keys[i], values[i]);
      place = places[i];
    }
    if (n < ahead) return place;
    pause();
  }
}

}  // namespace gg
