// Containers for very many small values, which grow in blocks: none is ever copied or needs twice its size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
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

/// Arrays of values that need no destructor; addresses never change.
class Arrays {
 public:
  template <typename T>
  std::span<const T> keep(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> &&
                  alignof(T) <= sizeof(Word) && sizeof(T) % sizeof(Word) == 0);
    if (values.empty()) return {};
    const size_t words = values.size_bytes() / sizeof(Word);
    if (words > left_) {
      left_ = words > block_size ? words : block_size;
      next_ = blocks_.emplace_back(std::make_unique_for_overwrite<Word[]>(left_)).get();
      if (blocks_.size() == 1) first_size_ = left_;
    }
    void* place = std::memcpy(next_, values.data(), values.size_bytes());
    next_ += words;
    left_ -= words;
    return {static_cast<const T*>(place), values.size()};
  }

  /// Keeps one block for what comes next.
  void clear() {
    if (!blocks_.empty()) blocks_.resize(1);
    next_ = blocks_.empty() ? nullptr : blocks_[0].get();
    left_ = blocks_.empty() ? 0 : first_size_;
  }

 private:
  using Word = uint64_t;
  static constexpr size_t block_size = 1 << 13;
  std::vector<std::unique_ptr<Word[]>> blocks_;
  Word* next_ = nullptr;
  size_t left_ = 0, first_size_ = 0;
};

}  // namespace gg
