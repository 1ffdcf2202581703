// Containers for very many small values, which grow in blocks: none is ever copied or needs twice its size.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

namespace gg {

/// A sequence of values.
template <typename T>
class Blocks {
 public:
  size_t size() const { return size_; }
  T& operator[](size_t i) { return blocks_[i / block_size][i % block_size]; }
  const T& operator[](size_t i) const { return blocks_[i / block_size][i % block_size]; }
  void push_back(const T& value) {
    if (size_ == blocks_.size() * block_size) blocks_.push_back(std::make_unique<T[]>(block_size));
    (*this)[size_++] = value;
  }
  /// Keeps one block for what comes next.
  void clear() {
    if (!blocks_.empty()) blocks_.resize(1);
    size_ = 0;
  }

 private:
  static constexpr size_t block_size = 1 << 12;
  std::vector<std::unique_ptr<T[]>> blocks_;
  size_t size_ = 0;
};

}  // namespace gg
