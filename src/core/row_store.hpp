// Rows of a run as bytes: compact in memory, and on disk where there are too many of them.
#pragma once
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "bytes.hpp"
#include "file.hpp"

namespace gg {

/// Bytes that grow without being initialised first.
class ByteBuffer {
 public:
  /// Room for at least `size` more bytes; `grow` says how many were written.
  char* room(size_t size) {
    if (size > capacity_ - size_) enlarge(size);
    return data_.get() + size_;
  }
  void grow(const char* end) { size_ = static_cast<size_t>(end - data_.get()); }
  void append(Bytes bytes) {
    char* to = room(bytes.size());
    copy_bytes(to, bytes.data(), bytes.size());
    grow(to + bytes.size());
  }
  void clear() { size_ = 0; }
  void release() { *this = {}; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  char* data() { return data_.get(); }
  Bytes bytes() const { return {data_.get(), size_}; }

 private:
  void enlarge(size_t size);
  std::unique_ptr<char[]> data_;
  size_t size_ = 0, capacity_ = 0;
};

inline char* put_varint(char* to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
  *to++ = static_cast<char>(value);
  return to;
}

inline uint64_t get_varint(const char*& from) {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(*from++);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
}

/// A document with its score: the score, the length of the id, and the id.
struct StoredRow {
  Bytes doc;
  double score;

  static void put(ByteBuffer& to, Bytes doc, double score) { to.grow(put(to.room(most(doc)), doc, score)); }
  static size_t most(Bytes doc) { return sizeof(double) + 10 + doc.size(); }
  static char* put(char* to, Bytes doc, double score) {
    std::memcpy(to, &score, sizeof score);
    to = put_varint(to + sizeof score, doc.size());
    copy_bytes(to, doc.data(), doc.size());
    return to + doc.size();
  }
  /// The row at `from`, which moves past it.
  static StoredRow get(const char*& from) {
    StoredRow row;
    std::memcpy(&row.score, from, sizeof row.score);
    from += sizeof row.score;
    const auto size = static_cast<size_t>(get_varint(from));
    row.doc = {from, size};
    from += size;
    return row;
  }
};

/// Rows sorted into partitions by query: in memory up to a limit, and beyond it in a temporary file.
class RowPartitions {
 public:
  RowPartitions(size_t queries, size_t memory);

  size_t size() const { return partitions_; }
  /// How many queries a partition has, at most.
  size_t queries_in(size_t partition) const { return (queries_ - partition + partitions_ - 1) / partitions_; }
  /// The number of a query from its place in a partition.
  size_t query(size_t partition, size_t place) const { return place * partitions_ + partition; }

  /// Collects the rows of one block; one for each thread.
  class Sorter {
   public:
    explicit Sorter(RowPartitions& partitions) : partitions_(partitions), buffers_(partitions.partitions_) {}

    void add(size_t query, Bytes doc, double score) {
      ByteBuffer& buffer = buffers_[query % buffers_.size()];
      char* to = put_varint(buffer.room(10 + StoredRow::most(doc)), query / buffers_.size());
      buffer.grow(StoredRow::put(to, doc, score));
    }
    /// Hands the rows over. The numbers of blocks put them into order.
    void finish_block(size_t number);

   private:
    RowPartitions& partitions_;
    std::vector<ByteBuffer> buffers_;
  };

  /// To be called once all blocks are there.
  void sort_blocks();

  /// Calls `use(place, row, bytes)` for the rows of a partition, in the order of the run; `bytes` is the row as stored.
  template <class Use>
  void for_each(size_t partition, ByteBuffer& scratch, Use&& use) const {
    for (const Stored& block : blocks_) {
      const Bytes rows = rows_of(block, partition, scratch);
      for (const char *p = rows.data(), *end = p + rows.size(); p < end;) {
        const auto place = static_cast<size_t>(get_varint(p));
        const char* begin = p;
        StoredRow::get(p);
        use(place, Bytes(begin, static_cast<size_t>(p - begin)));
      }
    }
  }

 private:
  struct Stored {
    size_t number;
    std::unique_ptr<char[]> bytes;  // null if they are in the file
    uint64_t offset;
    std::unique_ptr<uint64_t[]> ends;  // of the rows of each partition
  };
  Bytes rows_of(const Stored& block, size_t partition, ByteBuffer& scratch) const;

  size_t queries_, partitions_, memory_;
  std::mutex mutex_;
  size_t in_memory_ = 0;
  std::vector<Stored> blocks_;
  SpillFile spill_;
};

}  // namespace gg
