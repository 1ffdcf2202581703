#include "file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "error.hpp"
#include "parallel.hpp"

namespace gg {

MappedFile::MappedFile(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {
  struct stat info{};
  if (fstat(descriptor, &info) != 0 || S_ISDIR(info.st_mode)) {
    ::close(descriptor);
    bad_input(S_ISDIR(info.st_mode) ? in_quotes(name_) + " is a directory, not a file"
                                    : "cannot read " + in_quotes(name_));
  }
  size_ = static_cast<size_t>(info.st_size);
  if (size_ > 0) {
    void* place = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (place == MAP_FAILED) {
      ::close(descriptor);
      bad_input("cannot map " + in_quotes(name_) + " into memory: " + std::strerror(errno));
    }
    data_ = static_cast<const char*>(place);
    madvise(place, size_, MADV_SEQUENTIAL);
  }
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<char*>(data_), size_);
  ::close(descriptor_);
}

MappedFile MappedFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    const int reason = errno;
    if (reason == ENOENT) bad_input("file not found: " + in_quotes(path));
    bad_input("cannot open " + in_quotes(path) + ": " + std::strerror(reason));
  }
  return MappedFile(descriptor, path);
}

void MappedFile::append(size_t begin, size_t end, std::string& text) const {
  size_t at = text.size();
  text.resize(at + (end - begin));
  while (begin < end) {
    const ssize_t n = pread(descriptor_, text.data() + at, end - begin, static_cast<off_t>(begin));
    if (n <= 0) bad_input("unexpected end of file", name_, "did it change while it was being read?");
    begin += static_cast<size_t>(n);
    at += static_cast<size_t>(n);
  }
}

void MappedFile::expect(size_t begin, size_t end) const {
#ifdef MADV_POPULATE_READ
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  begin = begin / page * page;
  if (begin < end) madvise(const_cast<char*>(data_) + begin, end - begin, MADV_POPULATE_READ);
#else
  (void)begin, (void)end;
#endif
}

void MappedFile::release(size_t begin, size_t end) const {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  begin = (begin + page - 1) / page * page;
  end = end / page * page;
  if (begin < end) madvise(const_cast<char*>(data_) + begin, end - begin, MADV_DONTNEED);
}

uint64_t MappedFile::line_of(const char* place) const { return 1 + count_byte(data_, place, '\n'); }

std::string MappedFile::where(const char* place) const { return name_ + ":" + std::to_string(line_of(place)); }

}  // namespace gg
