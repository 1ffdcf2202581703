#include "file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#ifdef _WIN32
#include <io.h>
#include <windows.h>
#else
#include <unistd.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "error.hpp"
#include "parallel.hpp"

namespace gg {

namespace {

constexpr size_t most_at_once = 1 << 30;  // some systems refuse to read or write more than 2 GB
constexpr size_t small_read = 1 << 16;

#ifdef _WIN32
using Status = struct _stat64;
int status_of(int descriptor, Status& status) { return _fstat64(descriptor, &status); }
int open_to_read(const char* path) { return ::_open(path, _O_RDONLY | _O_BINARY | _O_NOINHERIT); }
void close_descriptor(int descriptor) { ::_close(descriptor); }
int64_t modified(const Status& status) { return static_cast<int64_t>(status.st_mtime); }

int64_t transfer_at(int descriptor, char* bytes, size_t size, uint64_t offset, bool write) {
  OVERLAPPED at{};
  at.Offset = static_cast<DWORD>(offset);
  at.OffsetHigh = static_cast<DWORD>(offset >> 32);
  const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(descriptor));
  DWORD done = 0;
  const BOOL good = write ? WriteFile(handle, bytes, static_cast<DWORD>(size), &done, &at)
                          : ReadFile(handle, bytes, static_cast<DWORD>(size), &done, &at);
  if (good) return done;
  const DWORD reason = GetLastError();
  if (!write && reason == ERROR_HANDLE_EOF) return 0;
  errno = reason == ERROR_DISK_FULL || reason == ERROR_HANDLE_DISK_FULL ? ENOSPC : EIO;
  return -1;
}

int open_temporary(const std::string& folder) {
  char path[MAX_PATH + 1];
  if (!GetTempFileNameA(folder.c_str(), "gg", 0, path)) return errno = ENOENT, -1;
  return ::_open(path, _O_RDWR | _O_CREAT | _O_BINARY | _O_NOINHERIT | _O_TEMPORARY | _O_SHORT_LIVED, 0600);
}
#else
using Status = struct stat;
int status_of(int descriptor, Status& status) { return fstat(descriptor, &status); }
int open_to_read(const char* path) { return ::open(path, O_RDONLY | O_CLOEXEC); }
void close_descriptor(int descriptor) { ::close(descriptor); }

int64_t modified(const Status& status) {
#ifdef __APPLE__
  const timespec& time = status.st_mtimespec;
#else
  const timespec& time = status.st_mtim;
#endif
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

int64_t transfer_at(int descriptor, char* bytes, size_t size, uint64_t offset, bool write) {
  const auto at = static_cast<off_t>(offset);
  return write ? pwrite(descriptor, bytes, size, at) : pread(descriptor, bytes, size, at);
}

int open_temporary(const std::string& folder) {
#ifdef O_TMPFILE
  const int unnamed = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;
#endif
  std::string path = folder + "/goodgain-XXXXXX";
  const int descriptor = mkstemp(path.data());
  if (descriptor >= 0) {
    unlink(path.c_str());
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  }
  return descriptor;
}
#endif

/// Reads or writes all bytes at an offset; how many there were before the end, or -1.
int64_t transfer(int descriptor, char* bytes, size_t size, uint64_t offset, bool write) {
  size_t done = 0;
  while (done < size) {
    const int64_t n = transfer_at(descriptor, bytes + done, std::min(size - done, most_at_once), offset + done, write);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return static_cast<int64_t>(done);
}

[[noreturn]] void changed(const std::string& name) {
  bad_input("the file changed while it was being read", name, "read it again once it is complete");
}

}  // namespace

// --- buffers ---

void LineBuffer::reserve(size_t size, size_t keep) {
  if (size <= capacity_ && data_) return;
  auto larger = std::unique_ptr<char[]>(new char[size + padding]);
  if (keep) std::memcpy(larger.get(), data_.get(), keep);
  data_ = std::move(larger);
  capacity_ = size;
}

void LineBuffer::end(size_t size) {
  std::memset(data_.get() + size, 0, padding);
  data_[size] = '\n';
}

// --- input ---

InputFile::InputFile(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {
  Status status{};
  const bool known = status_of(descriptor, status) == 0;
  const bool folder = known && (status.st_mode & S_IFMT) == S_IFDIR;
  if (!known || folder) {
    close_descriptor(descriptor);
    bad_input(folder ? in_quotes(name_) + " is a directory, not a file" : "cannot read " + in_quotes(name_), {},
              "name a file");
  }
  size_ = static_cast<size_t>(status.st_size);
  modified_ = modified(status);
#ifdef POSIX_FADV_SEQUENTIAL
  posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
}

InputFile::~InputFile() { close_descriptor(descriptor_); }

InputFile InputFile::open(const std::string& path) {
  const int descriptor = open_to_read(path.c_str());
  if (descriptor < 0) {
    const int reason = errno;
    if (reason == ENOENT) bad_input("file not found: " + in_quotes(path), {}, "check the spelling and the folder");
    bad_input("cannot open " + in_quotes(path) + ": " + std::strerror(reason), {},
              "check the path and who may read it");
  }
  return InputFile(descriptor, path);
}

void InputFile::read(size_t begin, size_t end, char* to) const {
  const int64_t n = transfer(descriptor_, to, end - begin, begin, false);
  if (n < 0)
    bad_input("cannot read " + in_quotes(name_) + ": " + std::strerror(errno), {},
              "the disk or the connection to it failed; copy the file elsewhere and try again");
  if (static_cast<size_t>(n) < end - begin) changed(name_);
}

std::string InputFile::head(size_t most) const {
  std::string text(std::min(most, size_), '\0');
  read(0, text.size(), text.data());
  return text;
}

Lines InputFile::lines(size_t begin, size_t end, size_t first, LineBuffer& buffer) const {
  begin = std::max(begin, first);
  end = std::min(end, size_);
  if (begin >= end) return {{}, begin};
  const size_t from = begin > first ? begin - 1 : begin;  // the byte before tells whether a line begins here
  buffer.reserve(end - from + small_read);
  size_t size = end - from;
  read(from, end, buffer.data());
  size_t start = 0;
  if (begin > first) {
    const auto* feed = static_cast<const char*>(std::memchr(buffer.data(), '\n', size));
    start = feed ? static_cast<size_t>(feed - buffer.data()) + 1 : size;
  }
  if (start == size) {  // no line begins here: a long one goes on
    buffer.end(size);
    return {{buffer.data() + start, 0}, from + start};
  }
  for (size_t step = small_read; buffer.data()[size - 1] != '\n' && from + size < size_; step *= 2) {
    const size_t more = std::min(step, size_ - from - size);
    buffer.reserve(size + more, size);
    read(from + size, from + size + more, buffer.data() + size);
    const auto* feed = static_cast<const char*>(std::memchr(buffer.data() + size, '\n', more));
    size = feed ? static_cast<size_t>(feed - buffer.data()) + 1 : size + more;
  }
  buffer.end(size);
  return {{buffer.data() + start, size - start}, from + start};
}

std::string InputFile::line(size_t begin) const {
  LineBuffer buffer;
  Bytes text = lines(begin, begin + 1, begin, buffer).text;
  if (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text);
}

uint64_t InputFile::line_of(size_t offset) const {
  std::string text(std::min<size_t>(offset, 1 << 20), '\0');
  uint64_t feeds = 0;
  for (size_t at = 0; at < offset; at += text.size()) {
    pause_point();
    const size_t n = std::min(text.size(), offset - at);
    read(at, at + n, text.data());
    feeds += static_cast<uint64_t>(std::count(text.data(), text.data() + n, '\n'));
  }
  return 1 + feeds;
}

std::string InputFile::where(size_t offset) const { return name_ + ":" + std::to_string(line_of(offset)); }

void InputFile::require_unchanged() const {
  Status status{};
  if (status_of(descriptor_, status) != 0) return;
  const auto size = static_cast<size_t>(status.st_size);
  // A file that only grew has the same first bytes.
  if (size < size_ || (size == size_ && modified(status) != modified_)) changed(name_);
}

// --- temporary files ---

std::string temporary_folder() {
  for (const char* name : {"TMPDIR", "TEMP", "TMP"})
    if (const char* folder = std::getenv(name); folder && *folder) return folder;
#ifdef _WIN32
  char folder[MAX_PATH + 1];
  const DWORD size = GetTempPathA(sizeof folder, folder);
  return std::string(folder, size);
#else
  return "/tmp";
#endif
}

struct SpillFile::State {
  std::string folder = temporary_folder();
  int descriptor = open_temporary(folder);
  uint64_t size = 0;

  [[noreturn]] void fail(const char* what) const {
    const int reason = errno;
#ifdef EDQUOT
    const bool quota = reason == EDQUOT;
#else
    const bool quota = false;
#endif
    if (reason == ENOSPC || reason == EFBIG || quota)
      bad_input("no space left in the temporary folder " + in_quotes(folder) + ": " + std::strerror(reason), "",
                "set TMPDIR to a folder with more space, or allow more memory");
    bad_input(std::string("cannot ") + what + " a file in the temporary folder " + in_quotes(folder) + ": " +
                  std::strerror(reason),
              "", "set TMPDIR to a folder that can be written to, or allow more memory");
  }
};

SpillFile::~SpillFile() {
  if (state_ && state_->descriptor >= 0) close_descriptor(state_->descriptor);
}

SpillFile::SpillFile() = default;

void SpillFile::open() {
  if (state_) return;
  state_ = std::make_unique<State>();
  if (state_->descriptor < 0) state_->fail("create");
}

uint64_t SpillFile::append(Bytes bytes) {
  uint64_t offset;
  {
    const std::lock_guard lock(mutex_);
    open();
    offset = state_->size;
    state_->size += bytes.size();
  }
  errno = ENOSPC;  // of a write that is cut short without a reason
  const int64_t n = transfer(state_->descriptor, const_cast<char*>(bytes.data()), bytes.size(), offset, true);
  if (n < 0 || static_cast<size_t>(n) < bytes.size()) state_->fail("write");
  return offset;
}

void SpillFile::read(uint64_t offset, size_t size, char* to) const {
  errno = EIO;
  const int64_t n = transfer(state_->descriptor, to, size, offset, false);
  if (n < 0 || static_cast<size_t>(n) < size) state_->fail("read");
}

}  // namespace gg
