// Input files, read at offsets into buffers. They are never mapped: a file that shrinks while it is read is an error
// with a name, not a signal that ends the process.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "bytes.hpp"

namespace gg {

/// Bytes followed by a line feed and zeros, so that vector loads may run past the end of the text.
class LineBuffer {
 public:
  static constexpr size_t padding = 64;

  char* data() { return data_.get(); }
  size_t capacity() const { return capacity_; }
  /// Makes room for `size` bytes; the first `keep` of them stay.
  void reserve(size_t size, size_t keep = 0);
  /// Ends the text after `size` bytes.
  void end(size_t size);
  /// Gives the memory back.
  void release() { data_.reset(), capacity_ = 0; }

 private:
  std::unique_ptr<char[]> data_;
  size_t capacity_ = 0;
};

/// Whole lines of a file, in a buffer.
struct Lines {
  Bytes text;
  size_t offset = 0;  // of the first byte, in the file
};

/// A regular file that is only read, from any number of threads.
class InputFile {
 public:
  InputFile(int descriptor, std::string name);  // takes ownership of the descriptor
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  static InputFile open(const std::string& path);

  /// The size when it was opened.
  size_t size() const { return size_; }
  const std::string& name() const { return name_; }

  /// Reads the bytes [begin, end).
  void read(size_t begin, size_t end, char* to) const;
  /// At most so many of the first bytes.
  std::string head(size_t most) const;
  /// The lines that begin in [begin, end), except that bytes before `first` belong to none.
  Lines lines(size_t begin, size_t end, size_t first, LineBuffer& buffer) const;
  /// The line from its first byte, without the line feed.
  std::string line(size_t begin) const;
  /// "name:line" of a byte; counts lines, so only for messages.
  std::string where(size_t offset) const;
  uint64_t line_of(size_t offset) const;
  /// An error if the file was modified since it was opened: some of what was read is old, some new.
  void require_unchanged() const;

 private:
  int descriptor_;
  size_t size_ = 0;
  int64_t modified_ = 0;
  std::string name_;
};

/// An unnamed file in the temporary folder, for what does not fit into memory.
class SpillFile {
 public:
  SpillFile();
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// Appends bytes from any thread; their offset.
  uint64_t append(Bytes bytes);
  void read(uint64_t offset, size_t size, char* to) const;

 private:
  struct State;
  void open();
  std::mutex mutex_;
  std::unique_ptr<State> state_;  // once something is written
};

/// The folder for temporary files: TMPDIR, TEMP or TMP if it is set, as Python does.
std::string temporary_folder();

}  // namespace gg
