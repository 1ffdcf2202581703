// Where blanks and line feeds are in a text, one bit per byte, by the widest vectors that the machine has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bytes.hpp"

// Whether functions can be compiled for newer instructions than the rest, and chosen when the program runs.
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define GOODGAIN_X86 1
#else
#define GOODGAIN_X86 0
#endif

namespace gg {

/// One bit for each of 64 bytes: blanks (up to and including the space), and line feeds.
struct Marks {
  uint64_t blank, feed;
};

/// Marks `words` times 64 bytes. All ways give the same bits.
using MarkText = void (*)(const char* text, size_t words, Marks* marks);

/// The ways that this machine has, the fastest one last; the first one needs no vectors.
struct MarkWay {
  const char* name;
  MarkText mark;
};
const std::vector<MarkWay>& mark_ways();

/// Whether this machine has the instructions of AVX2, BMI and BMI2. Compilers' own question, __builtin_cpu_supports,
/// needs a part of their libraries that neither zig nor clang-cl links.
bool has_newer_instructions();

/// Whether a text has control characters that are neither blanks nor ends of lines.
bool has_controls(const char* text, size_t size);

/// The marks of a stretch of text around the place that is being read.
class MarkedText {
 public:
  /// Whether the marks of the 64 bytes from `p` are known; marks a stretch before `end` if not. They are not in a
  /// stretch with control characters: its lines are looked at one by one.
  bool cover(const char* p, const char* end) {
    if (p >= begin_ && p + 64 <= end_) return !has_controls_;
    return mark_from(p, end);
  }
  /// Those of the 64 bytes from `p`, which are covered.
  Marks at(const char* p) const {
    const auto place = static_cast<size_t>(p - begin_);
    const Marks& low = marks_[place / 64];
    const unsigned shift = place % 64;
    if (shift == 0) return low;
    const Marks& high = marks_[place / 64 + 1];
    return {low.blank >> shift | high.blank << (64 - shift), low.feed >> shift | high.feed << (64 - shift)};
  }
  /// The text may be another one from now on.
  void forget() { begin_ = end_ = nullptr; }

 private:
  bool mark_from(const char* p, const char* end);

  static constexpr size_t most_words = 64;
  const char* begin_ = nullptr;
  const char* end_ = nullptr;
  bool has_controls_ = false;
  Marks marks_[most_words];
};

}  // namespace gg
