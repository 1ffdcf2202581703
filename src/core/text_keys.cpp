#include "text_keys.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "ada.h"

namespace gg {

// --- normal form ---

namespace {

struct Fold {
  char32_t from;
  Bytes to;
};

constexpr Fold folds[] = {
#include "case_folding.inc"
};

/// Foldings by page of 256 code points, so that most characters cost one lookup.
class FoldTable {
 public:
  FoldTable() {
    for (size_t i = 0; i < std::size(folds); ++i) {
      const size_t page = folds[i].from >> 8;
      if (!pages_[page]) {
        lists_.emplace_back();
        lists_.back().fill(0);
        pages_[page] = static_cast<uint16_t>(lists_.size());
      }
      lists_[pages_[page] - 1u][folds[i].from & 0xff] = static_cast<uint16_t>(i + 1);
    }
  }

  const Fold* find(char32_t c) const {
    const uint16_t page = c < 0x110000 ? pages_[c >> 8] : 0;
    const uint16_t fold = page ? lists_[page - 1u][c & 0xff] : 0;
    return fold ? &folds[fold - 1] : nullptr;
  }

 private:
  std::array<uint16_t, 0x1100> pages_{};
  std::vector<std::array<uint16_t, 256>> lists_;
};

/// Decodes one UTF-8 character; invalid bytes stand for themselves.
char32_t next_character(const char*& p, const char* end) {
  const auto byte = [&](int i) { return static_cast<unsigned char>(p[i]); };
  const unsigned char first = byte(0);
  const int length = first < 0x80 ? 1 : first >= 0xf0 && first < 0xf8 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
  if (length == 1 || first >= 0xf8 || end - p < length) {
    ++p;
    return first < 0x80 ? first : 0xffffffff;
  }
  char32_t c = first & (0xff >> (length + 1));
  for (int i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      ++p;
      return 0xffffffff;
    }
    c = (c << 6) | (byte(i) & 0x3f);
  }
  p += length;
  return c;
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

bool is_ascii(Bytes text) {
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8)
    if (load_8(text.data() + i) & 0x8080808080808080ULL) return false;
  for (; i < text.size(); ++i)
    if (static_cast<unsigned char>(text[i]) >= 0x80) return false;
  return true;
}

}  // namespace

void append_normal_form(Bytes text, std::string& out) {
  static const FoldTable table;
  const size_t begin = out.size();
  out.resize(begin + text.size() + 24);
  char* to = out.data() + begin;
  const char* p = text.data();
  const char* end = p + text.size();
  bool blank = false, any = false;
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
      const Fold* fold = c == 0xffffffff ? nullptr : table.find(c);
      const Bytes folded = fold ? fold->to : Bytes(from, static_cast<size_t>(p - from));
      room(folded.size() + 1);
      if (blank) *to++ = ' ';
      blank = false;
      any = true;
      std::memcpy(to, folded.data(), folded.size());
      to += folded.size();
    }
  }
  out.resize(static_cast<size_t>(to - out.data()));
}

std::string normal_form(Bytes text) {
  std::string out;
  append_normal_form(text, out);
  return out;
}

Bytes first_characters(Bytes text, size_t count) {
  if (text.size() <= count) return text;
  if (is_ascii(text.substr(0, count))) return text.substr(0, count);
  size_t at = 0;
  for (; at < text.size(); ++at)
    if ((static_cast<unsigned char>(text[at]) & 0xc0) != 0x80 && count-- == 0) break;
  return text.substr(0, at);
}

bool has_characters(Bytes text, size_t count) {
  if (text.size() < count) return false;
  if (text.size() >= 4 * count) return true;
  size_t characters = 0;
  for (const char c : text) characters += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return characters >= count;
}

Bytes without_ellipsis(Bytes text) {
  for (;;) {
    if (text.ends_with('.') || text.ends_with(' ')) {
      text.remove_suffix(1);
    } else if (text.ends_with("\xe2\x80\xa6")) {
      text.remove_suffix(3);
    } else {
      return text;
    }
  }
}

// --- times, people, markers ---

namespace {

bool digits(Bytes text, size_t at, size_t count, int64_t& value) {
  if (at + count > text.size()) return false;
  value = 0;
  for (size_t i = at; i < at + count; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    value = value * 10 + (text[i] - '0');
  }
  return true;
}

int64_t day_number(int64_t year, int64_t month, int64_t day) {  // days since 1970 in the Gregorian calendar
  year -= month <= 2;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t of_era = year - era * 400;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

}  // namespace

Moment parse_moment(Bytes text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  Moment m;
  int64_t year, month, day, hour, minute, second = 0;
  if (!digits(text, 0, 4, year) || text.size() < 10 || text[4] != '-' || !digits(text, 5, 2, month) || text[7] != '-' ||
      !digits(text, 8, 2, day) || month < 1 || month > 12 || day < 1 || day > 31)
    return m;
  m.day = day_number(year, month, day);
  if (text.size() == 10) {
    m.known = true;
    return m;
  }
  if ((text[10] != 'T' && text[10] != 't' && text[10] != ' ') || !digits(text, 11, 2, hour) || text.size() < 16 ||
      text[13] != ':' || !digits(text, 14, 2, minute))
    return m;
  size_t at = 16;
  double fraction = 0;
  if (at < text.size() && text[at] == ':') {
    if (!digits(text, at + 1, 2, second)) return m;
    at += 3;
    if (at < text.size() && text[at] == '.') {
      double place = 0.1;
      for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, place /= 10)
        fraction += (text[at] - '0') * place;
    }
  }
  int64_t offset = 0;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) {
    int64_t hours, minutes = 0;
    if (!digits(text, at + 1, 2, hours)) return m;
    const size_t rest = at + 3 + (at + 3 < text.size() && text[at + 3] == ':');
    if (rest < text.size() && !digits(text, rest, 2, minutes)) return m;
    offset = (text[at] == '-' ? -1 : 1) * (hours * 60 + minutes) * 60;
  } else if (at < text.size() && text[at] != 'Z' && text[at] != 'z') {
    return m;
  }
  int64_t of_day = hour * 3600 + minute * 60 + second - offset;
  while (of_day < 0) of_day += 86400, --m.day;
  while (of_day >= 86400) of_day -= 86400, ++m.day;
  m.second = static_cast<double>(of_day) + fraction;
  m.known = m.has_time = true;
  return m;
}

std::string normal_people(Bytes text) {
  std::vector<std::string> people;
  size_t at = 0;
  while (at <= text.size()) {
    const size_t stop = std::min(text.find_first_of(";,\x1f", at), text.size());
    Bytes one = text.substr(at, stop - at);
    if (const size_t open = one.find('<'), close = one.find('>');
        open != Bytes::npos && close != Bytes::npos && close > open)
      one = one.substr(open + 1, close - open - 1);
    std::string normal = normal_form(one);
    if (!normal.empty()) people.push_back(std::move(normal));
    at = stop + 1;
  }
  std::sort(people.begin(), people.end());
  people.erase(std::unique(people.begin(), people.end()), people.end());
  std::string joined;
  for (const std::string& one : people) joined += one + ';';
  return joined;
}

bool is_citation_marker(Bytes id) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (id.starts_with("\xe3\x80\x90")) return true;  // 【3†source】
  if (id.size() >= 3 && id.front() == '[' && id.back() == ']') return std::all_of(id.begin() + 1, id.end() - 1, digit);
  if (!id.starts_with("turn") && !id.starts_with("Turn")) return false;
  size_t at = 4;
  while (at < id.size() && digit(id[at])) ++at;
  const size_t word = at;
  while (at < id.size() && ((id[at] >= 'a' && id[at] <= 'z') || id[at] == '_')) ++at;
  if (word == 4 || at == word || at == id.size()) return false;
  while (at < id.size() && digit(id[at])) ++at;
  return at == id.size();
}

// --- URLs ---

namespace {

bool any_equal(const std::vector<std::string>& names, Bytes name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string lower_ascii(Bytes text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return out;
}

int hex_value(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                : -1;
}

/// One form of percent-encoding: unreserved characters are decoded, others have upper-case digits.
std::string normal_percent(Bytes text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
    if (low < 0) {
      out += text[i];
      continue;
    }
    const char c = static_cast<char>(high * 16 + low);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    static constexpr char upper[] = "0123456789ABCDEF";
    if (plain) {
      out += c;
    } else {
      out += {'%', upper[high], upper[low]};
    }
    i += 2;
  }
  return out;
}

Bytes trimmed(Bytes text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

bool UrlRules::ignores(Bytes name) const {
  const std::string lower = lower_ascii(name);
  return any_equal(ignored, lower) || std::any_of(ignored_prefixes.begin(), ignored_prefixes.end(),
                                                  [&](const auto& p) { return lower.starts_with(p); });
}

bool UrlRules::selects(Bytes name) const { return any_equal(selectors, lower_ascii(name)); }

ReducedUrl reduce_url(Bytes url, const UrlRules& rules) {
  url = trimmed(url);
  ReducedUrl reduced;
  auto parsed = ada::parse<ada::url_aggregator>(url);
  const size_t slash = url.find('/');
  const Bytes authority = url.substr(0, slash);
  const bool bare = !url.starts_with('/') && authority.find('.') != Bytes::npos &&
                    (!parsed || parsed->get_protocol().find('.') != Bytes::npos);
  if (bare || url.starts_with("//"))  // a host without a scheme
    parsed =
        ada::parse<ada::url_aggregator>("https:" + std::string(url.starts_with("//") ? "" : "//") + std::string(url));
  if (!parsed) {
    reduced.page.append("|").append(url);
    return reduced;
  }
  const Bytes scheme = parsed->get_protocol();
  Bytes host = parsed->get_hostname();
  if (host.starts_with("www.") && host.find('.', 4) != Bytes::npos) host.remove_prefix(4);
  while (host.ends_with('.')) host.remove_suffix(1);
  const bool web = scheme == "http:" || scheme == "https:";
  if (!web) reduced.page += scheme;
  reduced.page += host;
  if (const Bytes port = parsed->get_port(); !port.empty() && !(web && (port == "80" || port == "443")))
    reduced.page.append(":").append(port);
  reduced.page += '|';
  std::string path = normal_percent(parsed->get_pathname());
  while (path.ends_with('/')) path.pop_back();
  reduced.page += path;
  const Bytes hash = parsed->get_hash();
  if (hash.starts_with("#!") || hash.starts_with("#/")) {  // a route of an application, not a position in a page
    std::string route(hash);
    while (route.ends_with('/')) route.pop_back();
    reduced.page += route;
  }
  Bytes query = parsed->get_search();
  if (query.starts_with('?')) query.remove_prefix(1);
  while (!query.empty()) {
    const size_t stop = std::min(query.find('&'), query.size());
    const Bytes one = query.substr(0, stop);
    query.remove_prefix(std::min(stop + 1, query.size()));
    const size_t equals = std::min(one.find('='), one.size());
    std::string name = normal_percent(one.substr(0, equals));
    if (one.empty() || rules.ignores(name)) continue;
    std::string value = normal_percent(one.substr(std::min(equals + 1, one.size())));
    for (size_t plus; (plus = value.find('+')) != std::string::npos;) value.replace(plus, 1, "%20");
    reduced.parameters.emplace_back(std::move(name), std::move(value));
  }
  std::sort(reduced.parameters.begin(), reduced.parameters.end());
  return reduced;
}

}  // namespace gg
