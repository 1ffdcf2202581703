// Input files, mapped into memory and read in windows so that little of them is resident.
#pragma once
#include <cstdint>
#include <string>

#include "bytes.hpp"

namespace gg {

/// A read-only memory-mapped file. Pages can be released after use.
class MappedFile {
 public:
  MappedFile(int descriptor, std::string name);  // takes ownership of the descriptor
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  static MappedFile open(const std::string& path);

  const char* data() const { return data_; }
  size_t size() const { return size_; }
  const std::string& name() const { return name_; }

  /// Appends bytes to `text` without mapping their pages, for scattered reads.
  void append(size_t begin, size_t end, std::string& text) const;
  /// Announces a read: maps the pages in one go where the system supports it.
  void expect(size_t begin, size_t end) const;
  /// Removes pages from the resident set until they are read again.
  void release(size_t begin, size_t end) const;
  /// "name:line" of a byte; counts lines, so only for messages.
  std::string where(const char* place) const;
  uint64_t line_of(const char* place) const;

 private:
  int descriptor_;
  const char* data_ = nullptr;
  size_t size_ = 0;
  std::string name_;
};

}  // namespace gg
