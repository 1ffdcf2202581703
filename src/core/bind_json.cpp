// Lines of JSON. Python objects are written as `json.dumps(value, ensure_ascii=False, allow_nan=False)` writes
// them, and lines appended so that no other process can get in between: this is most of what a search costs
// under live capture.

#include "bind_json.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#ifdef _WIN32
#include <io.h>
#include <windows.h>
#else
#include <sys/file.h>
#include <sys/uio.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "dict_members.hpp"
#include "python_values.hpp"

namespace nb = nanobind;

namespace gg {
namespace {

constexpr int kMaxDepth = 200;

// What a byte needs in a JSON string: 0 nothing, 1 an escape.
constexpr std::array<bool, 256> kEscaped = [] {
  std::array<bool, 256> table{};
  for (int i = 0; i < 0x20; ++i) table[i] = true;
  table['"'] = table['\\'] = true;
  return table;
}();

/// Whether none of eight bytes needs an escape.
bool is_plain(const char* text) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;
  uint64_t bytes = 0;
  std::memcpy(&bytes, text, 8);
  const auto has_zero = [](uint64_t v) { return (v - kOnes) & ~v & kHighs; };
  const uint64_t controls = (bytes - kOnes * 0x20) & ~bytes & kHighs;
  return (controls | has_zero(bytes ^ kOnes * '"') | has_zero(bytes ^ kOnes * '\\')) == 0;
}

class Encoder {
 public:
  explicit Encoder(nb::handle fallback) : fallback_(fallback) { out_.reserve(8192); }

  void add(PyObject* value, int depth) {
    if (depth > kMaxDepth) throw nb::value_error("nested too deeply for JSON");
    if (value == Py_None) {
      out_ += "null";
    } else if (value == Py_True) {
      out_ += "true";
    } else if (value == Py_False) {
      out_ += "false";
    } else if (PyUnicode_Check(value)) {
      add_text(value);
    } else if (PyLong_Check(value)) {
      add_integer(value);
    } else if (PyFloat_Check(value)) {
      add_number(PyFloat_AsDouble(value));
    } else if (PyDict_Check(value)) {
      add_dict(value, depth);
    } else if (PyList_Check(value)) {
      add_items(value, depth, PyList_Size, list_item);
    } else if (PyTuple_Check(value)) {
      add_items(value, depth, PyTuple_Size,
                [](PyObject* t, Py_ssize_t i) { return nb::borrow(PyTuple_GetItem(t, i)); });
    } else {
      nb::object other = fallback_(nb::handle(value));
      add(other.ptr(), depth + 1);
    }
  }

  const std::string& text() const { return out_; }

 private:
  void add_text(PyObject* value) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(value, &size);
    if (data == nullptr) throw nb::python_error();
    out_ += '"';
    const char* end = data + size;
    const char* start = data;
    for (const char* p = data; p < end; ++p) {
      while (end - p >= 8 && is_plain(p)) p += 8;
      if (p == end) break;
      if (!kEscaped[static_cast<unsigned char>(*p)]) continue;
      out_.append(start, p);
      escape(*p);
      start = p + 1;
    }
    out_.append(start, end);
    out_ += '"';
  }

  void escape(char c) {
    switch (c) {
      case '"': out_ += "\\\""; return;
      case '\\': out_ += "\\\\"; return;
      case '\n': out_ += "\\n"; return;
      case '\r': out_ += "\\r"; return;
      case '\t': out_ += "\\t"; return;
      default: {
        constexpr std::string_view kDigits = "0123456789abcdef";
        out_ += "\\u00";
        out_ += kDigits[static_cast<unsigned char>(c) >> 4];
        out_ += kDigits[static_cast<unsigned char>(c) & 15];
      }
    }
  }

  void add_integer(PyObject* value) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0) {
      nb::object text = nb::steal(PyNumber_ToBase(value, 10));
      if (!text.is_valid()) throw nb::python_error();
      Py_ssize_t size = 0;
      const char* digits = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
      if (digits == nullptr) throw nb::python_error();
      out_.append(digits, static_cast<size_t>(size));
      return;
    }
    if (number == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out_.append(digits.data(), end);
  }

  void add_number(double number) {
    if (!std::isfinite(number)) throw nb::value_error("JSON has no such number");
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    const std::string_view text(digits.data(), static_cast<size_t>(end - digits.data()));
    out_ += text;
    if (text.find_first_of(".e") == std::string_view::npos) out_ += ".0";
  }

  void add_dict(PyObject* value, int depth) {
    out_ += '{';
    nb::object key, item;  // held: the fallback may change the dictionary
    Py_ssize_t position = 0;
    bool is_first = true;
    while (next_member(value, position, key, item)) {
      if (!PyUnicode_Check(key.ptr())) throw nb::type_error("keys of JSON are texts");
      if (!is_first) out_ += ", ";
      is_first = false;
      add_text(key.ptr());
      out_ += ": ";
      add(item.ptr(), depth + 1);
    }
    out_ += '}';
  }

  template <typename Size, typename Get>
  void add_items(PyObject* value, int depth, Size size, Get get) {
    out_ += '[';
    for (Py_ssize_t i = 0; i < size(value); ++i) {
      const nb::object held = get(value, i);
      if (!held.is_valid()) break;  // the list has become shorter
      if (i != 0) out_ += ", ";
      add(held.ptr(), depth + 1);
    }
    out_ += ']';
  }

  std::string out_;
  nb::handle fallback_;
};

#ifdef _WIN32
/// Append a line; see below. The lock is on a byte that no file reaches, so that reading stays possible.
int64_t append_line(int fd, std::string_view line, int64_t known) {
  const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(fd));
  OVERLAPPED place{};
  place.Offset = place.OffsetHigh = 0x7FFFFFFF;
  const bool is_locked = LockFileEx(handle, LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &place);
  const int64_t size = _lseeki64(fd, 0, SEEK_END);
  int64_t result = size < 0 ? -1 - errno : size;
  if (size >= 0) {
    char last = '\n';
    if (size != known && size > 0 && (_lseeki64(fd, -1, SEEK_END) < 0 || _read(fd, &last, 1) != 1)) last = '\n';
    std::string whole(last == '\n' ? "" : "\n");
    whole += line;
    whole += '\n';
    _lseeki64(fd, 0, SEEK_END);
    for (size_t done = 0; done < whole.size();) {
      const auto most = static_cast<unsigned>(std::min<size_t>(whole.size() - done, 1 << 30));
      const int written = _write(fd, whole.data() + done, most);
      if (written <= 0) {
        result = -1 - errno;
        break;
      }
      done += static_cast<size_t>(written);
      result += written;
    }
  }
  if (is_locked) UnlockFileEx(handle, 0, 1, 0, &place);
  return result;
}
#else
/// Keeps other processes from writing to a file meanwhile, where the system has such locks.
class FileLock {
 public:
  explicit FileLock(int fd) : fd_(fd) {
    while (!(is_locked_ = flock(fd, LOCK_EX) == 0) && errno == EINTR) handle_signals();
  }
  ~FileLock() {
    if (is_locked_) flock(fd_, LOCK_UN);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_;
  bool is_locked_ = false;
};

/// Append a line. Returns the end of the file, or -1 - errno. `known` is its end after the last line that was
/// written here: where it is another, a killed process may have left a line without its end.
int64_t append_line(int fd, std::string_view line, int64_t known) {
  const FileLock lock(fd);
  struct stat facts{};
  if (fstat(fd, &facts) != 0) return -1 - errno;
  int64_t size = facts.st_size;
  char last = '\n';
  if (size != known && size > 0 && pread(fd, &last, 1, size - 1) != 1) last = '\n';
  std::array<iovec, 3> pieces{};
  char newline = '\n';
  pieces[0] = {&newline, last == '\n' ? 0UL : 1UL};
  pieces[1] = {const_cast<char*>(line.data()), line.size()};
  pieces[2] = {&newline, 1};
  size_t left = pieces[0].iov_len + line.size() + 1;
  while (left > 0) {
    const ssize_t written = writev(fd, pieces.data(), static_cast<int>(pieces.size()));
    if (written < 0) {
      if (errno == EINTR) continue;
      return -1 - errno;
    }
    size += written;
    left -= static_cast<size_t>(written);
    auto rest = static_cast<size_t>(written);
    for (iovec& piece : pieces) {
      const size_t done = std::min(rest, piece.iov_len);
      piece.iov_base = static_cast<char*>(piece.iov_base) + done;
      piece.iov_len -= done;
      rest -= done;
    }
  }
  return size;
}
#endif

}  // namespace

void bind_json(nb::module_& m) {
  m.def(
      "encode_json",
      [](nb::handle value, nb::handle fallback) {
        Encoder encoder(fallback);
        encoder.add(value.ptr(), 0);
        return nb::bytes(encoder.text().data(), encoder.text().size());
      },
      nb::arg("value"), nb::arg("fallback"));
  m.def(
      "append_line",
      [](int fd, nb::bytes line, int64_t known) {
        const std::string_view text(line.c_str(), line.size());
        const Unlocked release;
        return append_line(fd, text, known);
      },
      nb::arg("fd"), nb::arg("line"), nb::arg("known"));
}

}  // namespace gg
