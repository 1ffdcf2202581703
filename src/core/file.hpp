// Input as one stretch of bytes: a file mapped into memory, read in windows so that little of it is resident.
#pragma once
#include <cstdint>
#include <string>

#include "bytes.hpp"

namespace gg {

/// A file mapped into memory, read only. Pages already used can be given back.
class MappedFile {
 public:
  MappedFile(int descriptor, std::string name);  // takes the descriptor over
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  static MappedFile open(const std::string& path);

  const char* data() const { return data_; }
  size_t size() const { return size_; }
  const std::string& name() const { return name_; }

  /// Appends bytes to `text` without mapping their pages: for reading here and there.
  void append(size_t begin, size_t end, std::string& text) const;
  /// These bytes are read next: their pages are mapped in one go where the system can.
  void expect(size_t begin, size_t end) const;
  /// These bytes are not needed again soon: their pages leave the resident set.
  void release(size_t begin, size_t end) const;
  /// "name:line" of a byte, counted only when a message needs it.
  std::string where(const char* place) const;
  uint64_t line_of(const char* place) const;

 private:
  int descriptor_;
  const char* data_ = nullptr;
  size_t size_ = 0;
  std::string name_;
};

}  // namespace gg
