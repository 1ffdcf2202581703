// A text divided into blocks of whole lines, which threads take in turn.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "file.hpp"

namespace gg {

struct TextBlock {
  size_t number = 0;    // from 0, in the order of the text
  uint64_t offset = 0;  // of its first byte in the text
  Bytes text;
  LineBuffer buffer;
};

/// One pass over a text.
class BlockReader {
 public:
  virtual ~BlockReader() = default;
  /// The next block, from any thread; false at the end. `block.number` is set even if it fails.
  virtual bool take(TextBlock& block) = 0;
};

/// A text that can be read more than once: a file, or a stream that can be opened again.
class TextSource {
 public:
  explicit TextSource(std::string name) : name_(std::move(name)) {}
  virtual ~TextSource() = default;
  const std::string& name() const { return name_; }

  virtual std::string head(size_t most) const = 0;
  /// Starts a pass over the text from the byte `first`.
  virtual std::unique_ptr<BlockReader> read(size_t first, size_t block_bytes) const = 0;
  /// The size of the text, or of what it is unpacked from.
  virtual size_t size() const = 0;
  /// "name:line" of a byte; reads all before it, so only for messages.
  virtual std::string where(uint64_t offset) const = 0;
  /// An error if the text changed since it was opened.
  virtual void require_unchanged() const {}

 private:
  std::string name_;
};

/// The lines of a file. With `quotes`, line feeds inside quoted fields do not end a line.
class FileSource : public TextSource {
 public:
  FileSource(const InputFile& file, char delimiter, bool quotes)
      : TextSource(file.name()), file_(file), delimiter_(delimiter), quotes_(quotes) {}

  std::string head(size_t most) const override { return file_.head(most); }
  std::unique_ptr<BlockReader> read(size_t first, size_t block_bytes) const override;
  size_t size() const override { return file_.size(); }
  std::string where(uint64_t offset) const override { return file_.where(offset); }
  void require_unchanged() const override { file_.require_unchanged(); }

 private:
  const InputFile& file_;
  char delimiter_;
  bool quotes_;
};

/// Fills a buffer with the next bytes of a stream; how many there are, 0 at the end.
using Fill = std::function<size_t(char* to, size_t size)>;

/// The lines of a stream, such as a compressed file. `open` starts it from the beginning.
class StreamSource : public TextSource {
 public:
  StreamSource(std::function<Fill()> open, size_t packed_size, std::string name, char delimiter, bool quotes)
      : TextSource(std::move(name)),
        open_(std::move(open)),
        size_(packed_size),
        delimiter_(delimiter),
        quotes_(quotes) {}

  std::string head(size_t most) const override;
  std::unique_ptr<BlockReader> read(size_t first, size_t block_bytes) const override;
  size_t size() const override { return size_; }
  std::string where(uint64_t offset) const override;

 private:
  std::function<Fill()> open_;
  size_t size_;
  char delimiter_;
  bool quotes_;
};

}  // namespace gg
