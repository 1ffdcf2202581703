// The 128-bit product of two words, where compilers differ.
#pragma once
#include <cstdint>
#if defined(_MSC_VER) && !defined(__SIZEOF_INT128__)
#include <intrin.h>
#endif

namespace gg {

struct Product {
  uint64_t low, high;
};

/// The product from 32-bit halves, for compilers that have no wider type.
constexpr Product multiply_by_halves(uint64_t a, uint64_t b) {
  const uint64_t al = a & 0xFFFFFFFF, ah = a >> 32, bl = b & 0xFFFFFFFF, bh = b >> 32;
  const uint64_t ll = al * bl, lh = al * bh, hl = ah * bl, hh = ah * bh;
  const uint64_t middle = (ll >> 32) + (lh & 0xFFFFFFFF) + (hl & 0xFFFFFFFF);
  return {(middle << 32) | (ll & 0xFFFFFFFF), hh + (lh >> 32) + (hl >> 32) + (middle >> 32)};
}

static_assert(multiply_by_halves(~0ULL, ~0ULL).high == ~0ULL - 1 && multiply_by_halves(~0ULL, ~0ULL).low == 1);
static_assert(multiply_by_halves(0x123456789ABCDEF0, 0xFEDCBA9876543210).high == 0x121FA00AD77D7422);
static_assert(multiply_by_halves(0x123456789ABCDEF0, 0xFEDCBA9876543210).low == 0x236D88FE5618CF00);

inline Product multiply(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return {static_cast<uint64_t>(product), static_cast<uint64_t>(product >> 64)};
#elif defined(_MSC_VER) && (defined(_M_X64) || defined(_M_ARM64))
  return {a * b, __umulh(a, b)};
#else
  return multiply_by_halves(a, b);
#endif
}

inline uint64_t high_half(uint64_t a, uint64_t b) { return multiply(a, b).high; }

}  // namespace gg
