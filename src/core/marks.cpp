#include "marks.hpp"

#include <algorithm>
#include <cstring>

#include "simdjson.h"

#if GOODGAIN_X86
#include <immintrin.h>
#endif

namespace gg {

namespace {

/// The highest bits of eight bytes as eight bits.
uint64_t gather(uint64_t highest) { return ((highest >> 7) * 0x0102040810204080ULL) >> 56; }

void mark_by_bytes(const char* text, size_t words, Marks* marks) {
  constexpr uint64_t ones = 0x0101010101010101ULL, highs = ones << 7, lows = ~highs;
  for (size_t w = 0; w < words; ++w) {
    Marks m{0, 0};
    for (unsigned i = 0; i < 8; ++i) {
      unsigned char eight[8];
      std::memcpy(eight, text + 64 * w + 8 * i, 8);
      uint64_t word = 0;  // the first byte lowest, on any machine
      for (unsigned b = 0; b < 8; ++b) word |= uint64_t{eight[b]} << (8 * b);
      const uint64_t above = ((word & lows) + ones * (0x7f - ' ')) | word;  // highest bit: the byte is above the space
      const uint64_t other = word ^ (ones * '\n');
      const uint64_t differs = ((other & lows) + lows) | other;
      m.blank |= gather(~above & highs) << (8 * i);
      m.feed |= gather(~differs & highs) << (8 * i);
    }
    marks[w] = m;
  }
}

/// Both ranges by their least byte, without a branch: compilers make vectors of this.
inline bool controls_in(const char* text, size_t size) {
  uint8_t low = 255, shifted = 255;
  for (size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    low = std::min(low, byte);
    shifted = std::min(shifted, static_cast<uint8_t>(byte - 14));
  }
  return low < '\t' || shifted < ' ' - 14;
}

#if GOODGAIN_X86
__attribute__((target("avx2"))) bool controls_by_avx2(const char* text, size_t size) { return controls_in(text, size); }

void mark_by_sse2(const char* text, size_t words, Marks* marks) {
  const __m128i space = _mm_set1_epi8(' '), feed = _mm_set1_epi8('\n');
  for (size_t w = 0; w < words; ++w) {
    Marks m{0, 0};
    for (int i = 0; i < 4; ++i) {
      const __m128i bytes =
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 64 * w + 16 * static_cast<size_t>(i)));
      const auto blanks = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, space), bytes)));
      const auto feeds = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, feed)));
      m.blank |= static_cast<uint64_t>(blanks) << (16 * i);
      m.feed |= static_cast<uint64_t>(feeds) << (16 * i);
    }
    marks[w] = m;
  }
}

__attribute__((target("avx2"))) inline uint64_t bits(__m256i equal) {
  return static_cast<uint32_t>(_mm256_movemask_epi8(equal));
}

__attribute__((target("avx2"))) void mark_by_avx2(const char* text, size_t words, Marks* marks) {
  const __m256i space = _mm256_set1_epi8(' '), feed = _mm256_set1_epi8('\n');
  for (size_t w = 0; w < words; ++w) {
    const auto* at = reinterpret_cast<const __m256i*>(text + 64 * w);
    const __m256i low = _mm256_loadu_si256(at), high = _mm256_loadu_si256(at + 1);
    marks[w] = {bits(_mm256_cmpeq_epi8(_mm256_min_epu8(low, space), low)) |
                    bits(_mm256_cmpeq_epi8(_mm256_min_epu8(high, space), high)) << 32,
                bits(_mm256_cmpeq_epi8(low, feed)) | bits(_mm256_cmpeq_epi8(high, feed)) << 32};
  }
}
#endif

}  // namespace

bool has_newer_instructions() {
  static const bool has = [] {
    for (const char* generation : {"haswell", "icelake"}) {  // a build for newer machines only lacks the former
      const auto* way = simdjson::get_available_implementations()[generation];
      if (way != nullptr && way->supported_by_runtime_system()) return true;
    }
    return false;
  }();
  return has;
}

const std::vector<MarkWay>& mark_ways() {
  static const std::vector<MarkWay> ways = [] {
    std::vector<MarkWay> all{{"bytes", mark_by_bytes}};
#if GOODGAIN_X86
    all.push_back({"sse2", mark_by_sse2});
    if (has_newer_instructions()) all.push_back({"avx2", mark_by_avx2});
#endif
    return all;
  }();
  return ways;
}

bool has_controls(const char* text, size_t size) {
#if GOODGAIN_X86
  if (has_newer_instructions()) return controls_by_avx2(text, size);
#endif
  return controls_in(text, size);
}

bool MarkedText::mark_from(const char* p, const char* end) {
  static const MarkText mark = mark_ways().back().mark;
  const size_t words = std::min(static_cast<size_t>(end - p) / 64, most_words);
  if (words == 0) return false;
  mark(p, words, marks_);
  begin_ = p;
  end_ = p + 64 * words;
  has_controls_ = has_controls(p, 64 * words);
  return !has_controls_;
}

}  // namespace gg
