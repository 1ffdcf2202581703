// The members of dictionaries and lists that other threads of Python may change.
#pragma once
#include <nanobind/nanobind.h>

#include <cstddef>
#include <utility>

namespace gg {

/// The next member of a dictionary, held: without a GIL, another thread may replace a member that is only borrowed.
inline bool next_member(PyObject* dict, Py_ssize_t& place, nanobind::object& key, nanobind::object& value) {
  nanobind::object next_key, next_value;
  {
    const nanobind::ft_object_guard guard(dict);
    PyObject *k, *v;
    if (!PyDict_Next(dict, &place, &k, &v)) return false;
    next_key = nanobind::borrow(k);
    next_value = nanobind::borrow(v);
  }
  key = std::move(next_key);  // outside the guard: the old one may run Python code as it goes
  value = std::move(next_value);
  return true;
}

/// An item of a list, held; not valid if the list has become shorter.
inline nanobind::object list_item(PyObject* list, Py_ssize_t i) {
  const nanobind::ft_object_guard guard(list);
  if (i >= PyList_Size(list)) return {};
  return nanobind::borrow(PyList_GetItem(list, i));
}

/// Calls `use(key, value)` with members from `place` on while they are plain text and numbers, reading which runs no
/// Python code, so that borrowed references stay valid as long as `use` keeps the GIL. Keys and values lie all over the
/// memory: it is asked for before they are used. `pause`, where the GIL may be given up, is called in between. Returns
/// the place of the first other member, or of the end. Without a GIL nothing borrowed is safe, so that all are others.
template <class Use, class Pause>
Py_ssize_t each_plain_member(PyObject* dict, Py_ssize_t place, Use&& use, Pause&& pause) {
#if defined(NB_FREE_THREADED)
  (void)dict, (void)use, (void)pause;
  return place;
#else
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
#endif
}

}  // namespace gg
