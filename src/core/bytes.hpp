// Ids are bytes: views, a hash, and an arena for copies.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "wide.hpp"

namespace gg {

using Bytes = std::string_view;

inline uint64_t mix(uint64_t a, uint64_t b) {
  const Product product = multiply(a, b);
  return product.low ^ product.high;
}

/// No bytes may come from nowhere, and go there.
inline void copy_bytes(void* to, const void* from, size_t size) {
  if (size) std::memcpy(to, from, size);
}

inline uint64_t load_8(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

inline uint64_t swap_bytes(uint64_t word) {
  word = (word & 0x00ff00ff00ff00ffULL) << 8 | (word >> 8 & 0x00ff00ff00ff00ffULL);
  word = (word & 0x0000ffff0000ffffULL) << 16 | (word >> 16 & 0x0000ffff0000ffffULL);
  return word << 32 | word >> 32;
}

inline uint64_t load_short(const char* p, size_t n) {  // n < 8, without reading past the end
  if (n >= 4) {
    uint32_t first, last;
    std::memcpy(&first, p, 4);
    std::memcpy(&last, p + n - 4, 4);
    return (static_cast<uint64_t>(first) << 32) | last;
  }
  if (n == 0) return 0;
  const auto byte = [&](size_t i) { return static_cast<uint64_t>(static_cast<unsigned char>(p[i])); };
  return (byte(0) << 16) | (byte(n / 2) << 8) | byte(n - 1);
}

/// Whether two short ids are equal, without a function call.
inline bool same_bytes(Bytes a, Bytes b) {
  if (a.size() != b.size()) return false;
  const size_t n = a.size();
  if (n >= 8 && n <= 16)
    return load_8(a.data()) == load_8(b.data()) && load_8(a.data() + n - 8) == load_8(b.data() + n - 8);
  if (n >= 4 && n < 8) return load_short(a.data(), n) == load_short(b.data(), n);
  return n == 0 || std::memcmp(a.data(), b.data(), n) == 0;
}

/// Asks for memory that will be read soon.
inline void prefetch(const void* place) {
#if defined(__GNUC__)
  __builtin_prefetch(place);
#else
  (void)place;
#endif
}

/// Two random numbers of this process, so that nobody can choose ids that collide.
struct HashSeeds {
  uint64_t first, second;
};
extern const HashSeeds hash_seeds;

/// A hash of bytes, for tables in memory: it differs from process to process.
inline uint64_t hash_bytes(Bytes s) {
  const auto [k0, k1] = hash_seeds;
  const char* p = s.data();
  size_t n = s.size();
  uint64_t h = k0 ^ n;
  while (n > 16) {
    h = mix(load_8(p) ^ k1, load_8(p + 8) ^ h);
    p += 16;
    n -= 16;
  }
  if (n >= 8) return mix(load_8(p) ^ k1, load_8(p + n - 8) ^ h);
  return mix(load_short(p, n) ^ k1, h ^ k1);
}

/// Bytes that live as long as the arena: one allocation per block, addresses never change.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = default;

  Bytes keep(Bytes s) {
    if (s.empty()) return {"", 0};
    if (s.size() > left_) grow(s.size());
    char* place = next_;
    std::memcpy(place, s.data(), s.size());
    next_ += s.size();
    left_ -= s.size();
    return {place, s.size()};
  }

  /// Keeps a text behind its size: its address is all that needs to be known.
  const char* keep_sized(Bytes s) {
    const auto size = static_cast<uint32_t>(s.size());
    if (sizeof size + s.size() > left_) grow(sizeof size + s.size());
    char* place = next_;
    std::memcpy(place, &size, sizeof size);
    std::memcpy(place + sizeof size, s.data(), s.size());
    next_ += sizeof size + s.size();
    left_ -= sizeof size + s.size();
    return place;
  }
  static Bytes sized(const char* place) {
    uint32_t size = 0;
    std::memcpy(&size, place, sizeof size);
    return {place + sizeof size, size};
  }

  /// Forgets everything, but keeps one block for what comes next.
  void clear() {
    if (!blocks_.empty()) blocks_.resize(1);
    next_ = blocks_.empty() ? nullptr : blocks_[0].get();
    left_ = blocks_.empty() ? 0 : first_size_;
  }

 private:
  void grow(size_t needed) {
    const size_t size = needed > block_size ? needed : block_size;
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    if (blocks_.size() == 1) first_size_ = size;
    next_ = blocks_.back().get();
    left_ = size;
  }

  static constexpr size_t block_size = 1 << 16;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  size_t left_ = 0, first_size_ = 0;
};

/// Numbers ids 0, 1, 2, ... in order of first appearance.
class IdTable {
 public:
  static constexpr uint32_t none = 0xffffffffu;

  uint32_t find(Bytes id) const { return slots_.empty() ? none : find(id, hash_bytes(id)); }

  /// Looks up to 64 ids up together: the memory of each is on its way while the others are worked on.
  void find(std::span<const Bytes> ids, uint32_t* numbers) const {
    uint64_t hashes[64];
    if (slots_.empty()) return std::fill_n(numbers, ids.size(), none), void();
    for (size_t i = 0; i < ids.size(); ++i) prefetch(&slots_[(hashes[i] = hash_bytes(ids[i])) & mask_]);
    for (size_t i = 0; i < ids.size(); ++i)
      if (const uint32_t number = slots_[hashes[i] & mask_].number; number != none) prefetch(&ids_[number]);
    for (size_t i = 0; i < ids.size(); ++i)
      if (const uint32_t number = slots_[hashes[i] & mask_].number; number != none) prefetch(ids_[number].data());
    for (size_t i = 0; i < ids.size(); ++i) numbers[i] = find(ids[i], hashes[i]);
  }

  /// The number of an id; the bytes are copied when the id is new.
  uint32_t add(Bytes id) {
    if ((ids_.size() + 1) * 2 > slots_.size()) rehash();
    const uint64_t h = hash_bytes(id);
    for (size_t i = h & mask_;; i = (i + 1) & mask_) {
      if (slots_[i].number == none) {
        const auto number = static_cast<uint32_t>(ids_.size());
        slots_[i] = {h, number};
        ids_.push_back(arena_.keep(id));
        return number;
      }
      if (slots_[i].hash == h && ids_[slots_[i].number] == id) return slots_[i].number;
    }
  }

  Bytes operator[](size_t number) const { return ids_[number]; }
  size_t size() const { return ids_.size(); }

 private:
  struct Slot {
    uint64_t hash = 0;
    uint32_t number = none;
  };

  uint32_t find(Bytes id, uint64_t hash) const {
    for (size_t i = hash & mask_;; i = (i + 1) & mask_) {
      if (slots_[i].number == none) return none;
      if (slots_[i].hash == hash && same_bytes(ids_[slots_[i].number], id)) return slots_[i].number;
    }
  }

  void rehash() {
    const size_t size = slots_.empty() ? 16 : slots_.size() * 2;
    slots_.assign(size, Slot{});
    mask_ = size - 1;
    for (uint32_t number = 0; number < ids_.size(); ++number) {
      const uint64_t h = hash_bytes(ids_[number]);
      size_t i = h & mask_;
      while (slots_[i].number != none) i = (i + 1) & mask_;
      slots_[i] = {h, number};
    }
  }

  Arena arena_;
  std::vector<Bytes> ids_;
  std::vector<Slot> slots_;
  size_t mask_ = 0;
};

}  // namespace gg
