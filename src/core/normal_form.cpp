#include "normal_form.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gg {

namespace {

struct Character {
  char32_t point;
  Bytes folded;
  uint8_t flags;  // 1: composition may change it; 2: composition may change what it folds to
};
struct Decomposition {
  char32_t point, first, second;
};
struct Composition {
  char32_t first, second, point;
};
struct CombiningClass {
  char32_t point;
  uint8_t value;
};
struct Entity {
  Bytes name;
  char32_t point;
};

#include "text_tables.inc"

/// Entries by code point, in pages of 256, so that most characters cost one lookup.
template <class Entry, size_t count>
class PointTable {
 public:
  explicit PointTable(const Entry (&entries)[count]) : entries_(entries) {
    for (size_t i = 0; i < count; ++i) {
      const size_t page = entries[i].point >> 8;
      if (!pages_[page]) {
        lists_.emplace_back();
        lists_.back().fill(0);
        pages_[page] = static_cast<uint16_t>(lists_.size());
      }
      lists_[pages_[page] - 1u][entries[i].point & 0xff] = static_cast<uint16_t>(i + 1);
    }
  }

  const Entry* find(char32_t c) const {
    const uint16_t page = c < 0x110000 ? pages_[c >> 8] : 0;
    const uint16_t entry = page ? lists_[page - 1u][c & 0xff] : 0;
    return entry ? &entries_[entry - 1] : nullptr;
  }

 private:
  const Entry* entries_;
  std::array<uint16_t, 0x1100> pages_{};
  std::vector<std::array<uint16_t, 256>> lists_;
};

template <class Entry, size_t count>
PointTable(const Entry (&)[count]) -> PointTable<Entry, count>;

constexpr char32_t invalid = 0xffffffff;

/// Decodes one UTF-8 character; invalid bytes stand for themselves.
char32_t next_character(const char*& p, const char* end) {
  const auto byte = [&](int i) { return static_cast<unsigned char>(p[i]); };
  const unsigned char first = byte(0);
  const int length = first < 0x80 ? 1 : first >= 0xf0 && first < 0xf8 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
  if (length == 1 || first >= 0xf8 || end - p < length) {
    ++p;
    return first < 0x80 ? first : invalid;
  }
  char32_t c = first & (0xff >> (length + 1));
  for (int i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      ++p;
      return invalid;
    }
    c = (c << 6) | (byte(i) & 0x3f);
  }
  p += length;
  return c;
}

void append_character(char32_t c, std::string& out) {
  const auto add = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xc0 | c >> 6), add(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    add(0xe0 | c >> 12), add(0x80 | (c >> 6 & 0x3f)), add(0x80 | (c & 0x3f));
  } else {
    add(0xf0 | c >> 18), add(0x80 | (c >> 12 & 0x3f)), add(0x80 | (c >> 6 & 0x3f)), add(0x80 | (c & 0x3f));
  }
}

bool is_wide_space(char32_t c) {
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
         c == 0x202f || c == 0x205f || c == 0x3000;
}

// 0 for white space, 1 for non-ASCII, otherwise the folded character.
constexpr std::array<unsigned char, 256> ascii_kinds = [] {
  std::array<unsigned char, 256> kinds{};
  for (size_t c = 0; c < 256; ++c)
    kinds[c] = static_cast<unsigned char>(c >= 0x80                                                ? 1
                                          : c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c < 32) ? 0
                                          : c < 9                                                  ? c + 128
                                          : c >= 'A' && c <= 'Z'                                   ? c + 32
                                                                                                   : c);
  return kinds;
}();

#if defined(__SSE2__)
/// Sixteen bytes at once, as long as they are plain: ASCII without control characters or adjacent spaces.
void fold_plain(const char*& p, const char* end, char*& to, bool& blank, bool& any) {
  const __m128i space = _mm_set1_epi8(' '), before_a = _mm_set1_epi8('A' - 1), after_z = _mm_set1_epi8('Z' + 1);
  while (end - p >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    if (_mm_movemask_epi8(_mm_cmplt_epi8(bytes, space))) return;  // a control character, or not ASCII
    const auto blanks = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, space)));
    if (blanks & (blanks << 1) || (blanks & 1 && (blank || !any))) return;
    if (blank) *to++ = ' ';
    const __m128i upper = _mm_and_si128(_mm_cmpgt_epi8(bytes, before_a), _mm_cmplt_epi8(bytes, after_z));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_add_epi8(bytes, _mm_and_si128(upper, space)));
    blank = blanks & 0x8000u;
    any = true;
    to += blank ? 15 : 16;
    p += 16;
  }
}
#else
void fold_plain(const char*&, const char*, char*&, bool&, bool&) {}
#endif

const auto& character_table() {
  static const PointTable table(characters);
  return table;
}

// --- composition (NFC) ---

constexpr char32_t syllables = 0xac00, leads = 0x1100, vowels = 0x1161, tails = 0x11a7;  // of Hangul
constexpr char32_t vowel_count = 21, tail_count = 28, syllable_count = 11172;

class Composer {
 public:
  /// Forgets what was added and never finished, because memory ran out.
  void begin() { points_.clear(); }
  void decompose(char32_t c) {
    if (c >= syllables && c < syllables + syllable_count) {
      const char32_t at = c - syllables, tail = at % tail_count;
      add(leads + at / (vowel_count * tail_count));
      add(vowels + at % (vowel_count * tail_count) / tail_count);
      if (tail) add(tails + tail);
    } else if (const Decomposition* d = decomposed_.find(c)) {
      decompose(d->first);
      if (d->second) decompose(d->second);
    } else {
      add(c);
    }
  }

  /// Composes what was added and appends it.
  void finish(std::string& out) {
    order();
    size_t starter = points_.size();
    uint8_t last = 0;
    for (size_t i = 0; i < points_.size(); ++i) {
      const auto [c, combining] = points_[i];
      const bool blocked = starter == points_.size() || (last && last >= combining);
      const char32_t joined = blocked ? 0 : pair(points_[starter].first, c);
      if (joined) {
        points_[starter].first = joined;
        points_[i].first = invalid;
        continue;
      }
      if (!combining) starter = i;
      last = combining;
    }
    for (const auto& [c, combining] : points_)
      if (c != invalid) append_character(c, out);
    points_.clear();
  }

 private:
  void add(char32_t c) {
    const CombiningClass* k = classes_.find(c);
    points_.emplace_back(c, k ? k->value : uint8_t{0});
  }

  void order() {
    for (size_t i = 0; i < points_.size();) {
      size_t end = i + 1;
      if (points_[i].second) {
        while (end < points_.size() && points_[end].second) ++end;
        std::stable_sort(points_.begin() + static_cast<std::ptrdiff_t>(i),
                         points_.begin() + static_cast<std::ptrdiff_t>(end),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
      }
      i = end;
    }
  }

  char32_t pair(char32_t a, char32_t b) const {
    if (a >= leads && a < leads + 19 && b >= vowels && b < vowels + vowel_count)
      return syllables + ((a - leads) * vowel_count + (b - vowels)) * tail_count;
    if (a >= syllables && a < syllables + syllable_count && (a - syllables) % tail_count == 0 && b > tails &&
        b < tails + tail_count)
      return a + (b - tails);
    const auto joined = composed_.find(uint64_t{a} << 32 | b);
    return joined == composed_.end() ? 0 : joined->second;
  }

  PointTable<Decomposition, std::size(decompositions)> decomposed_{decompositions};
  PointTable<CombiningClass, std::size(combining_classes)> classes_{combining_classes};
  std::unordered_map<uint64_t, char32_t> composed_ = [] {
    std::unordered_map<uint64_t, char32_t> pairs;
    for (const Composition& c : compositions) pairs.emplace(uint64_t{c.first} << 32 | c.second, c.point);
    return pairs;
  }();
  std::vector<std::pair<char32_t, uint8_t>> points_;
};

bool may_change(Bytes text) {
  const char *p = text.data(), *end = p + text.size();
  while (p != end) {
    if (static_cast<unsigned char>(*p) < 0x80) {
      ++p;
      continue;
    }
    const char32_t c = next_character(p, end);
    const Character* entry = c == invalid ? nullptr : character_table().find(c);
    if (entry && entry->flags & 1) return true;
  }
  return false;
}

std::string composed(Bytes text) {
  static thread_local Composer composer;
  composer.begin();
  std::string out;
  out.reserve(text.size());
  const char *p = text.data(), *end = p + text.size();
  while (p != end) {
    const char* from = p;
    const char32_t c = next_character(p, end);
    if (c == invalid) {
      composer.finish(out);
      out.append(from, p);
    } else {
      composer.decompose(c);
    }
  }
  composer.finish(out);
  return out;
}

/// Folds text whose characters are composed; says whether the folded text has to be composed again.
bool append_folded(Bytes text, std::string& out, bool& unstable) {
  const auto& table = character_table();
  const size_t begin = out.size();
  out.resize(begin + text.size() + 24);
  char* to = out.data() + begin;
  const char* p = text.data();
  const char* end = p + text.size();
  bool blank = false, any = false, again = false;
  const auto room = [&](size_t needed) {  // folding can make text longer
    const auto used = static_cast<size_t>(to - out.data());
    if (out.size() - used < needed + static_cast<size_t>(end - p) + 24) {
      out.resize(out.size() + out.size() / 2 + needed + 64);
      to = out.data() + used;
    }
  };
  while (p != end) {
    fold_plain(p, end, to, blank, any);
    if (p == end) break;
    const unsigned char kind = ascii_kinds[static_cast<unsigned char>(*p)];
    if (kind == 0) {
      blank = any;
      ++p;
    } else if (kind != 1) {
      if (blank) *to++ = ' ';
      blank = false;
      any = true;
      *to++ = static_cast<char>(kind >= 128 ? kind - 128 : kind);
      ++p;
    } else {
      const char* from = p;
      const char32_t c = next_character(p, end);
      if (is_wide_space(c)) {
        blank = any;
        continue;
      }
      const Character* entry = c == invalid ? nullptr : table.find(c);
      const Bytes folded = entry ? entry->folded : Bytes(from, static_cast<size_t>(p - from));
      if (entry) {
        unstable |= entry->flags & 1;
        again |= (entry->flags & 2) != 0;
      }
      if (folded.empty()) continue;
      room(folded.size() + 1);
      if (blank) *to++ = ' ';
      blank = false;
      any = true;
      std::memcpy(to, folded.data(), folded.size());
      to += folded.size();
    }
  }
  out.resize(static_cast<size_t>(to - out.data()));
  return again;
}

}  // namespace

void compose(std::string& text) {
  if (may_change(text)) text = composed(text);
}

void append_normal_form(Bytes text, std::string& out) {
  const size_t begin = out.size();
  bool unstable = false;
  bool again = append_folded(text, out, unstable);
  if (unstable) {
    out.resize(begin);
    again = append_folded(composed(text), out, unstable);
  }
  if (again) {
    const std::string whole = composed(Bytes(out).substr(begin));
    out.resize(begin);
    out += whole;
  }
}

std::string normal_form(Bytes text) {
  std::string out;
  append_normal_form(text, out);
  return out;
}

// --- markup ---

namespace {

constexpr size_t longest_entity = 10, longest_tag = 120;

/// The character of "&name" or "&#39" without the semicolon; 0 if there is none.
char32_t entity(Bytes text) {
  text.remove_prefix(1);
  if (text.starts_with('#')) {
    text.remove_prefix(1);
    const bool hex = text.starts_with('x') || text.starts_with('X');
    if (hex) text.remove_prefix(1);
    char32_t c = 0;
    if (text.empty() || text.size() > 7) return 0;
    for (const char digit : text) {
      const int value = digit >= '0' && digit <= '9'          ? digit - '0'
                        : hex && digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                        : hex && digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                                              : -1;
      if (value < 0) return 0;
      c = c * (hex ? 16 : 10) + static_cast<char32_t>(value);
    }
    return c < 32 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : c;
  }
  static const auto names = [] {
    std::unordered_map<Bytes, char32_t> map;
    for (const Entity& e : entities) map.emplace(e.name, e.point);
    return map;
  }();
  const auto known = names.find(text);
  return known == names.end() ? 0 : known->second;
}

/// Replaces the entity that a semicolon has just ended; linear, and entities may be encoded several times.
void decode_entity(std::string& out, size_t begin) {
  const size_t from = std::max(begin, out.size() - std::min(out.size(), longest_entity));
  const size_t at = Bytes(out).substr(from).rfind('&');
  const char32_t c = at == Bytes::npos ? 0 : entity(Bytes(out).substr(from + at));
  if (!c) {
    out += ';';
    return;
  }
  out.resize(from + at);
  append_character(c, out);
}

enum class Tag { none, highlight, line };

Tag tag_kind(Bytes inside) {
  if (inside.starts_with('/')) inside.remove_prefix(1);
  const size_t stop = std::min(inside.find_first_of(" /\t\n"), inside.size());
  std::string name(inside.substr(0, stop));
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  static constexpr Bytes highlights[] = {"em", "b",    "strong", "mark", "i",         "u",  "span",
                                         "hl", "font", "c0",     "hit",  "highlight", "tt", "bold"};
  static constexpr Bytes lines[] = {"br", "p", "div", "li", "ul", "ol", "ddd", "wbr"};
  if (std::find(std::begin(highlights), std::end(highlights), name) != std::end(highlights)) return Tag::highlight;
  if (name.starts_with("ais-highlight")) return Tag::highlight;
  return std::find(std::begin(lines), std::end(lines), name) != std::end(lines) ? Tag::line : Tag::none;
}

/// Removes the tag that a '>' has just ended.
void remove_tag(std::string& out) {
  const size_t from = out.size() - std::min(out.size(), longest_tag);
  const size_t at = Bytes(out).substr(from).rfind('<');
  const Tag kind = at == Bytes::npos ? Tag::none : tag_kind(Bytes(out).substr(from + at + 1));
  if (kind == Tag::none) {
    out += '>';
    return;
  }
  out.resize(from + at);
  if (kind == Tag::line) out += ' ';
}

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || static_cast<signed char>(c) < 0;
}

/// Removes pairs of ** that surround words; 2**8 stays.
std::string without_stars(Bytes text) {
  std::string out;
  out.reserve(text.size());
  size_t opened = std::string::npos;  // where in `out` the stars of a begun highlight stood
  for (size_t i = 0; i < text.size(); ++i) {
    size_t end = i;
    while (end < text.size() && text[end] == '*') ++end;
    if (end - i != 2) {
      out.append(text, i, std::max<size_t>(1, end - i));
      i = std::max(i, end - (end > i));
      continue;
    }
    const bool before = i > 0 && !is_blank(text[i - 1]), after = end < text.size() && !is_blank(text[end]);
    if (opened == std::string::npos && after && !(i > 0 && is_word(text[i - 1]))) {
      opened = out.size();
    } else if (opened != std::string::npos && before) {
      opened = std::string::npos;
    } else {
      out += "**";
    }
    i = end - 1;
  }
  if (opened != std::string::npos && out.size() - opened > 200) out.insert(opened, "**");  // never closed
  return out;
}

}  // namespace

void append_decoded_entities(Bytes text, std::string& out) {
  const size_t begin = out.size();
  for (const char c : text) {
    if (c == ';') decode_entity(out, begin);
    else out += c;
  }
}

Bytes without_markup(Bytes text, std::string& scratch) {
  const bool entities = text.find('&') != Bytes::npos && text.find(';') != Bytes::npos;
  bool tags = text.find('<') != Bytes::npos;
  const bool stars = text.find("**") != Bytes::npos;
  if (!entities && !tags && !stars) return text;
  std::string plain;
  plain.reserve(text.size());
  if (entities) append_decoded_entities(text, plain);
  else plain = text;
  // A tag that is never closed is spoken of, not used: "<b>: The Bring Attention To element".
  tags = plain.find("</") != std::string::npos || plain.find("<br") != std::string::npos ||
         plain.find("<ddd/>") != std::string::npos;
  if (tags) {
    std::string cleared;
    cleared.reserve(plain.size());
    for (const char c : plain) {
      if (c == '>') remove_tag(cleared);
      else cleared += c;
    }
    plain.swap(cleared);
  }
  scratch = stars ? without_stars(plain) : std::move(plain);
  return scratch;
}

}  // namespace gg
