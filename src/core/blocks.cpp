#include "blocks.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include "error.hpp"

namespace gg {

namespace {

constexpr size_t longest_record = 256 << 20;

/// Blocks at fixed offsets, which threads read on their own.
class OffsetBlocks : public BlockReader {
 public:
  OffsetBlocks(const InputFile& file, size_t first, size_t block_bytes)
      : file_(file), first_(first), block_bytes_(block_bytes) {}

  bool take(TextBlock& block) override {
    block.number = next_.fetch_add(1);
    const size_t begin = first_ + block.number * block_bytes_;
    if (begin >= file_.size()) return false;
    const Lines lines = file_.lines(begin, begin + block_bytes_, first_, block.buffer);
    block.text = lines.text;
    block.offset = lines.offset;
    return true;
  }

 private:
  const InputFile& file_;
  const size_t first_, block_bytes_;
  std::atomic<size_t> next_{0};
};

/// The end of a record that begins at `p`, as DelimitedReader reads it; null if it goes on after `end`.
const char* record_end(const char* p, const char* end, char delimiter) {
  while (true) {  // one field per pass
    if (p != end && *p == '"') {
      ++p;
      while (true) {
        p = static_cast<const char*>(std::memchr(p, '"', static_cast<size_t>(end - p)));
        if (!p || ++p == end) return nullptr;
        if (*p != '"') break;
        ++p;
      }
      if (*p == '\r' && p + 1 != end && p[1] == '\n') ++p;
      // After other text the reader gives the record up and goes on after its first line: so does the next pass.
      if (*p != delimiter && *p != '\n') return p;
    } else {
      while (p != end && *p != delimiter && *p != '\n') ++p;
      if (p == end) return nullptr;
    }
    if (*p++ == '\n') return p;
  }
}

/// The last place in the text before which all records are whole; its beginning if none is.
const char* whole_records(const char* begin, const char* end, char delimiter, bool quotes) {
  const auto after_last_feed = [](const char* from, const char* to) {
    while (to != from && to[-1] != '\n') --to;
    return to;
  };
  if (!quotes) return after_last_feed(begin, end);
  const char* p = begin;
  while (true) {
    const auto* quote = static_cast<const char*>(std::memchr(p, '"', static_cast<size_t>(end - p)));
    if (!quote) return after_last_feed(p, end);
    p = after_last_feed(p, quote);
    const char* next = record_end(p, end, delimiter);
    if (!next) return p;
    if (next[-1] != '\n') {  // a damaged record: it counts as its first line
      const auto* feed = static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(end - p)));
      if (!feed) return p;
      next = feed + 1;
    }
    p = next;
  }
}

/// Blocks of a stream, filled one after the other.
class StreamBlocks : public BlockReader {
 public:
  /// The stream starts at `offset` in the text, of which the first `skip` bytes are left out.
  StreamBlocks(Fill fill, uint64_t offset, size_t skip, size_t block_bytes, char delimiter, bool quotes)
      : fill_(std::move(fill)),
        offset_(offset),
        skip_(skip),
        block_bytes_(block_bytes),
        delimiter_(delimiter),
        quotes_(quotes) {}

  bool take(TextBlock& block) override {
    const std::lock_guard lock(mutex_);
    block.number = number_++;
    skip();
    block.offset = offset_;
    size_t size = rest_.size(), wanted = std::max(block_bytes_, 2 * size);
    block.buffer.reserve(wanted);
    copy_bytes(block.buffer.data(), rest_.data(), size);
    size_t whole = 0;
    while (true) {
      while (!ended_ && size < wanted) {
        const size_t n = fill(block.buffer.data() + size, wanted - size);
        size += n;
      }
      const char* text = block.buffer.data();
      // At the end, what is left is as whole as it gets; the reader decides what it is.
      whole = ended_ ? size : static_cast<size_t>(whole_records(text, text + size, delimiter_, quotes_) - text);
      if (whole || ended_) break;
      if (size > longest_record) bad_input("missing closing quote", {}, "a line has more than 256 MB");
      wanted *= 2;
      block.buffer.reserve(wanted, size);
    }
    rest_.assign(block.buffer.data() + whole, size - whole);
    block.buffer.end(whole);
    block.text = {block.buffer.data(), whole};
    offset_ += whole;
    return whole > 0;
  }

 private:
  /// After an error there is nothing more: what another thread would take is not the end of the text.
  size_t fill(char* to, size_t size) try {
    const size_t n = fill_(to, size);
    if (n == 0) ended_ = true;
    return n;
  } catch (...) {
    ended_ = true;
    rest_.clear();
    throw;
  }

  void skip() {
    std::string bytes(std::min<size_t>(skip_, 1 << 16), '\0');
    while (skip_ && !ended_) {
      const size_t n = fill(bytes.data(), std::min(bytes.size(), skip_));
      skip_ -= n;
      offset_ += n;
    }
  }

  std::mutex mutex_;
  Fill fill_;
  uint64_t offset_;
  size_t skip_;
  const size_t block_bytes_;
  const char delimiter_;
  const bool quotes_;
  std::string rest_;  // the beginning of the next block
  size_t number_ = 0;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<BlockReader> FileSource::read(size_t first, size_t block_bytes) const {
  if (!quotes_) return std::make_unique<OffsetBlocks>(file_, first, block_bytes);
  const auto fill = [this, at = size_t{first}](char* to, size_t size) mutable {
    const size_t n = std::min(size, file_.size() - std::min(at, file_.size()));
    file_.read(at, at + n, to);
    at += n;
    return n;
  };
  return std::make_unique<StreamBlocks>(fill, first, 0, block_bytes, delimiter_, true);
}

std::string StreamSource::head(size_t most) const {
  const Fill fill = open_();
  std::string text(most, '\0');
  size_t size = 0;
  while (size < most) {
    const size_t n = fill(text.data() + size, most - size);
    if (n == 0) break;
    size += n;
  }
  text.resize(size);
  return text;
}

std::unique_ptr<BlockReader> StreamSource::read(size_t first, size_t block_bytes) const {
  return std::make_unique<StreamBlocks>(open_(), 0, first, block_bytes, delimiter_, quotes_);
}

std::string StreamSource::where(uint64_t offset) const {
  const Fill fill = open_();
  std::string text(1 << 16, '\0');
  uint64_t feeds = 0;
  while (offset > 0) {
    const size_t n = fill(text.data(), std::min<uint64_t>(text.size(), offset));
    if (n == 0) break;
    feeds += static_cast<uint64_t>(std::count(text.data(), text.data() + n, '\n'));
    offset -= n;
  }
  return name() + ":" + std::to_string(1 + feeds);
}

}  // namespace gg
