#include "row_store.hpp"

#include <algorithm>

namespace gg {

namespace {
constexpr size_t most_partitions = 256;
}

void ByteBuffer::enlarge(size_t size) {
  const size_t wanted = std::max({size_ + size, capacity_ * 2, size_t{4096}});
  auto larger = std::unique_ptr<char[]>(new char[wanted]);
  if (size_) std::memcpy(larger.get(), data_.get(), size_);
  data_ = std::move(larger);
  capacity_ = wanted;
}

RowPartitions::RowPartitions(size_t queries, size_t memory)
    : queries_(queries), partitions_(std::clamp<size_t>(queries, 1, most_partitions)), memory_(memory) {}

void RowPartitions::Sorter::finish_block(size_t number) {
  Stored block{number, nullptr, 0, std::make_unique<uint64_t[]>(buffers_.size())};
  uint64_t size = 0;
  for (size_t p = 0; p < buffers_.size(); ++p) block.ends[p] = size += buffers_[p].size();
  if (size == 0) return;
  bool fits;
  {
    const std::lock_guard lock(partitions_.mutex_);
    fits = partitions_.in_memory_ + size <= partitions_.memory_;
    if (fits) partitions_.in_memory_ += size;
  }
  auto bytes = std::unique_ptr<char[]>(new char[size]);
  char* to = bytes.get();
  for (ByteBuffer& buffer : buffers_) {
    to = std::copy_n(buffer.data(), buffer.size(), to);
    buffer.clear();
  }
  if (fits) block.bytes = std::move(bytes);
  else block.offset = partitions_.spill_.append({bytes.get(), size});
  const std::lock_guard lock(partitions_.mutex_);
  partitions_.blocks_.push_back(std::move(block));
}

void RowPartitions::sort_blocks() {
  std::sort(blocks_.begin(), blocks_.end(), [](const Stored& a, const Stored& b) { return a.number < b.number; });
}

Bytes RowPartitions::rows_of(const Stored& block, size_t partition, ByteBuffer& scratch) const {
  const uint64_t begin = partition ? block.ends[partition - 1] : 0;
  const auto size = static_cast<size_t>(block.ends[partition] - begin);
  if (block.bytes) return {block.bytes.get() + begin, size};
  scratch.clear();
  char* to = scratch.room(size);
  spill_.read(block.offset + begin, size, to);
  return {to, size};
}

}  // namespace gg
