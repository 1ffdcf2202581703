#include "patterns.hpp"

#include <algorithm>
#include <charconv>

#include "error.hpp"

namespace gg {

namespace {

[[noreturn]] void bad_pattern(Bytes text, const std::string& problem, std::string hint = {}) {
  bad_input(problem + " in " + in_quotes(text), {}, std::move(hint));
}

using Set = std::bitset<256>;

Set set_of(Bytes ranges) {  // pairs of first and last
  Set set;
  for (size_t i = 0; i + 1 < ranges.size(); i += 2)
    for (int c = static_cast<unsigned char>(ranges[i]); c <= static_cast<unsigned char>(ranges[i + 1]); ++c)
      set.set(static_cast<size_t>(c));
  return set;
}

const Set digit_set = set_of("09"), hex_set = set_of("09afAF"), letter_set = set_of("azAZ"),
          word_set = set_of("09azAZ"), token_set = set_of("09azAZ__--"), number_set = set_of("09.."),
          base64_set = set_of("09azAZ__--++//=="), guid_set = set_of("09afAF--{{}}");

}  // namespace

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

std::string percent_decoded(Bytes text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
    if (low >= 0) i += 2;
    out += low >= 0 ? static_cast<char>(high * 16 + low) : text[i];
  }
  return out;
}

namespace {

/// The 15 characters that distinguish a Salesforce record; the last 3 of 18 only restore their case.
void salesforce(std::string& text) {
  if (text.size() != 18) return;
  std::string id = lower_ascii(Bytes(text).substr(0, 15));
  for (size_t block = 0; block < 3; ++block) {
    const char c = text[15 + block];
    const int bits = c >= 'A' && c <= 'Z'   ? c - 'A'
                     : c >= 'a' && c <= 'z' ? c - 'a'
                     : c >= '0' && c <= '5' ? c - '0' + 26
                                            : -1;
    if (bits < 0) return;
    for (size_t i = 0; i < 5; ++i) {
      char& letter = id[block * 5 + i];
      const bool upper = bits >> i & 1;
      if (upper && !(letter >= 'a' && letter <= 'z')) return;  // the checksum is not that of this id
      if (upper) letter = static_cast<char>(letter - 32);
    }
  }
  text = std::move(id);
}

/// Whether this is the id of a record: the prefix of its object begins with one of few characters and has a digit.
bool is_salesforce(Bytes id) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if ((id.size() != 15 && id.size() != 18) || Bytes("0578a").find(id[0]) == Bytes::npos) return false;
  if (!digit(id[0]) && !digit(id[1])) return false;
  if (id.size() == 15) return std::any_of(id.begin(), id.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  std::string shortened(id);
  salesforce(shortened);
  return shortened.size() == 15;
}

}  // namespace

bool is_opaque(Bytes id) {
  enum Class { none, lower, upper, digit, mark };
  constexpr size_t short_id = 20, longest_syllable = 3;
  Class last = none;
  size_t runs = 0, length = 0, longest = 0;
  bool has[5] = {};
  for (const char c : id) {
    const Class k = c >= 'a' && c <= 'z' ? lower : c >= 'A' && c <= 'Z' ? upper : c >= '0' && c <= '9' ? digit : mark;
    has[k] = true;
    runs += k != last;
    length = k == last ? length + 1 : 1;
    if (k == lower) longest = std::max(longest, length);
    last = k;
  }
  // Random characters change their class every 1.6 characters; words, names and numbers do so less often.
  if (!has[lower] || !has[upper] || !has[digit]) return false;
  return id.size() < short_id ? runs * 2 >= id.size() && longest <= longest_syllable : runs * 5 >= id.size() * 2;
}

int Slots::add(Bytes name) {
  if (const int known = find(name); known >= 0) return known;
  names_.emplace_back(name);
  return static_cast<int>(names_.size()) - 1;
}

int Slots::find(Bytes name) const {
  const auto at = std::find(names_.begin(), names_.end(), name);
  return at == names_.end() ? -1 : static_cast<int>(at - names_.begin());
}

// --- patterns ---

Pattern::Pattern(Bytes text, char separator, Slots& slots) {
  size_t at = 0;
  compile(text, at, separator, slots, false);
}

void Pattern::compile(Bytes text, size_t& at, char separator, Slots& slots, bool inside) {
  while (at < text.size()) {
    const char c = text[at];
    if (c == '{') {
      const size_t close = text.find('}', at);
      if (close == Bytes::npos) bad_pattern(text, "unbalanced '{'");
      capture(text.substr(at + 1, close - at - 1), separator, slots);
      at = close + 1;
    } else if (c == '[') {
      const size_t group = nodes_.size();
      nodes_.push_back({.kind = Kind::optional});
      compile(text, ++at, separator, slots, true);
      nodes_[group].end = nodes_.size();
    } else if (c == ']') {
      if (!inside) bad_pattern(text, "unbalanced ']'");
      ++at;
      return;
    } else if (c == '}') {
      bad_pattern(text, "unbalanced '}'");
    } else {
      const size_t stop = std::min(text.find_first_of("{}[]", at), text.size());
      nodes_.push_back({.kind = Kind::literal, .text = std::string(text.substr(at, stop - at))});
      at = stop;
    }
  }
  if (inside) bad_pattern(text, "unbalanced '['");
}

void Pattern::capture(Bytes inside, char separator, Slots& slots) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  const size_t mark = static_cast<size_t>(std::find_if_not(inside.begin(), inside.end(), letter) - inside.begin());
  const bool named_choice = mark > 0 && mark < inside.size() && inside[mark] == '=';
  Bytes name = inside.substr(0, mark);
  Node node{.kind = Kind::run};
  if (named_choice || inside.find('|') != Bytes::npos) {
    node.kind = Kind::choice;
    Bytes rest = named_choice ? inside.substr(mark + 1) : inside;
    if (!named_choice) name = {};
    for (;;) {
      const size_t stop = std::min(rest.find('|'), rest.size());
      node.choices.emplace_back(rest.substr(0, stop));
      if (stop == rest.size()) break;
      rest.remove_prefix(stop + 1);
    }
  } else {
    if (mark < inside.size() && inside[mark] != ':')
      bad_pattern(inside, "invalid capture", "for example {id}, {id:digits}, {kind=a|b} or {a|b}");
    Bytes words = mark == inside.size() ? Bytes("segment") : inside.substr(mark + 1);
    const size_t blank = std::min(words.find(' '), words.size());
    const Bytes kind = words.substr(0, blank);
    Bytes length = words.substr(std::min(blank + 1, words.size()));
    Set segment;
    segment.set();
    segment.reset(static_cast<size_t>(static_cast<unsigned char>(separator)));
    if (kind == "segment") node.set = segment;
    else if (kind == "any" || kind == "url") node.set.set();
    else if (kind == "digits") node.set = digit_set;
    else if (kind == "hex") node.set = hex_set;
    else if (kind == "letters") node.set = letter_set;
    else if (kind == "word") node.set = word_set;
    else if (kind == "token") node.set = token_set;
    else if (kind == "number") node.set = number_set;
    else if (kind == "base64" || kind == "opaque") node.set = base64_set;
    else if (kind == "salesforce") node.set = word_set;
    else if (kind == "guid") node.set = guid_set;
    else
      bad_pattern(
          inside, "unknown class " + in_quotes(kind),
          "one of: segment, any, digits, hex, letters, word, token, number, base64, opaque, guid, salesforce, url");
    node.check = kind == "opaque"       ? Check::opaque
                 : kind == "url"        ? Check::url
                 : kind == "guid"       ? Check::guid
                 : kind == "salesforce" ? Check::salesforce
                                        : Check::none;
    if (!length.empty()) {
      const auto number = [&](Bytes digits, size_t& value) {
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc() || end != digits.data() + digits.size())
          bad_pattern(inside, "invalid length " + in_quotes(length), "for example 11, 4+ or 4-9");
      };
      const size_t dash = length.find('-');
      if (length.ends_with('+')) {
        number(length.substr(0, length.size() - 1), node.least);
      } else {
        number(length.substr(0, dash), node.least);
        if (dash == Bytes::npos) node.most = node.least;
        else number(length.substr(dash + 1), node.most);
      }
    }
  }
  if (!name.empty()) node.slot = slots.add(name);
  nodes_.push_back(std::move(node));
}

bool Pattern::passes(Check check, Bytes text) {
  if (check == Check::none) return true;
  if (check == Check::opaque) return is_opaque(text);
  if (check == Check::guid)
    return std::count_if(text.begin(), text.end(), [](char c) { return hex_value(c) >= 0; }) == 32;
  if (check == Check::salesforce) return is_salesforce(text);
  const std::string start = lower_ascii(percent_decoded(percent_decoded(text.substr(0, 40))));
  return start.starts_with("http://") || start.starts_with("https://");
}

bool Pattern::run(size_t node, Bytes text, size_t at, Captures& captures, int& steps) const {
  for (;;) {
    if (--steps < 0) return false;
    if (node == nodes_.size()) return at == text.size();
    const Node& n = nodes_[node];
    switch (n.kind) {
      case Kind::literal:
        if (text.compare(at, n.text.size(), n.text) != 0) return false;
        at += n.text.size();
        ++node;
        continue;
      case Kind::optional:
        if (run(node + 1, text, at, captures, steps)) return true;
        for (size_t i = node + 1; i < n.end; ++i)
          if (nodes_[i].slot >= 0) captures[static_cast<size_t>(nodes_[i].slot)] = {};
        node = n.end;
        continue;
      case Kind::choice:
        for (const std::string& choice : n.choices) {
          if (text.compare(at, choice.size(), choice) != 0) continue;
          if (n.slot >= 0) captures[static_cast<size_t>(n.slot)] = text.substr(at, choice.size());
          if (run(node + 1, text, at + choice.size(), captures, steps)) return true;
        }
        return false;
      case Kind::run: {
        size_t longest = 0;
        const size_t limit = std::min(n.most, text.size() - at);
        while (longest < limit && n.set[static_cast<unsigned char>(text[at + longest])]) ++longest;
        steps -= static_cast<int>(std::min<size_t>(longest, 1 << 24) / 16);  // however long the text is
        const Bytes next =
            node + 1 < nodes_.size() && nodes_[node + 1].kind == Kind::literal ? Bytes(nodes_[node + 1].text) : Bytes();
        const bool last = node + 1 == nodes_.size();
        for (size_t length = longest; length >= n.least; --length) {
          if (last && at + length != text.size()) return false;
          if (next.empty() || text.compare(at + length, next.size(), next) == 0) {
            const Bytes held = text.substr(at, length);
            if (passes(n.check, held)) {
              if (n.slot >= 0) captures[static_cast<size_t>(n.slot)] = held;
              if (run(node + 1, text, at + length, captures, steps)) return true;
            }
          }
          if (--steps < 0 || length == 0) return false;
        }
        return false;
      }
    }
  }
}

bool Pattern::match(Bytes text, Captures& captures, int& steps) const { return run(0, text, 0, captures, steps); }

Bytes Pattern::head() const {
  return !nodes_.empty() && nodes_.front().kind == Kind::literal ? Bytes(nodes_.front().text) : Bytes();
}

Bytes Pattern::tail() const {
  for (const Node& n : nodes_)
    if (n.kind == Kind::optional && n.end == nodes_.size()) return {};
  return !nodes_.empty() && nodes_.back().kind == Kind::literal ? Bytes(nodes_.back().text) : Bytes();
}

std::vector<std::string> Pattern::literal_segments(char separator) const {
  std::vector<std::string> segments;
  size_t optional_until = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& n = nodes_[i];
    if (n.kind == Kind::optional) optional_until = std::max(optional_until, n.end);
    if (n.kind != Kind::literal || i < optional_until) continue;
    // Only what stands between two separators, or between one and the end of the pattern, is a whole segment.
    for (size_t from = n.text.find(separator); from != std::string::npos;) {
      const size_t stop = n.text.find(separator, from + 1);
      if (stop == std::string::npos && i + 1 != nodes_.size()) break;
      std::string segment = n.text.substr(from + 1, (stop == std::string::npos ? n.text.size() : stop) - from - 1);
      if (!segment.empty()) segments.push_back(std::move(segment));
      from = stop;
    }
  }
  return segments;
}

// --- templates ---

namespace {

void to_lower(std::string& text) { text = lower_ascii(text); }
void decode(std::string& text) { text = percent_decoded(text); }

/// A URL in a parameter may be encoded twice.
void decode_url(std::string& text) {
  for (int i = 0; i < 3 && lower_ascii(Bytes(text).substr(0, 5)).starts_with("http") && text.find("://") > 8; ++i)
    text = percent_decoded(text);
}

void base64(std::string& text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+' || c == '-' ? 62
                      : c == '/' || c == '_' ? 63
                                             : -1;
    if (value < 0) break;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (++count % 4 != 1) out += static_cast<char>(bits >> (count % 4 == 2 ? 4 : count % 4 == 3 ? 2 : 0) & 0xff);
  }
  text = std::move(out);
}

/// The title of a wiki page: spaces are underscores, the first letter is a capital.
void wiki(std::string& text) {
  text = percent_decoded(text);
  std::replace(text.begin(), text.end(), ' ', '_');
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
}

/// Only letters and digits, in lower case: {1F-2A} and 1f2a.
void plain(std::string& text) {
  text = lower_ascii(percent_decoded(text));
  std::erase_if(text, [](char c) { return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')); });
}

/// A Python package: runs of - _ . are one hyphen.
void package(std::string& text) {
  std::string out;
  for (const char c : lower_ascii(text)) {
    const bool mark = c == '-' || c == '_' || c == '.';
    if (!mark || (!out.empty() && out.back() != '-')) out += mark ? '-' : c;
  }
  text = std::move(out);
}

/// Exchange ids in URLs have - and _ for / and +.
void exchange(std::string& text) {
  text = percent_decoded(text);
  std::replace(text.begin(), text.end(), '-', '/');
  std::replace(text.begin(), text.end(), '_', '+');
}

/// Proofpoint's older form: -3A stands for %3A and _ for a slash.
void proofpoint(std::string& text) {
  std::replace(text.begin(), text.end(), '_', '/');
  for (size_t i = 0; i + 2 < text.size(); ++i)
    if (text[i] == '-' && hex_value(text[i + 1]) >= 0 && hex_value(text[i + 2]) >= 0) text[i] = '%';
  text = percent_decoded(text);
}

struct Filter {
  const char* name;
  void (*apply)(std::string&);
};
constexpr Filter filters[] = {{"lower", to_lower},       {"decode", decode},     {"url", decode_url},
                              {"base64", base64},        {"wiki", wiki},         {"plain", plain},
                              {"package", package},      {"exchange", exchange}, {"salesforce", salesforce},
                              {"proofpoint", proofpoint}};

}  // namespace

Template::Template(Bytes text, const Slots& slots) {
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '{') {
      const size_t stop = std::min(text.find('{', at), text.size());
      pieces_.push_back({std::string(text.substr(at, stop - at))});
      at = stop;
      continue;
    }
    const size_t close = text.find('}', at);
    if (close == Bytes::npos) bad_pattern(text, "unbalanced '{'");
    Bytes inside = text.substr(at + 1, close - at - 1);
    at = close + 1;
    const size_t bar = std::min(inside.find('|'), inside.size());
    Piece piece{.text = {}, .slot = slots.find(inside.substr(0, bar))};
    if (piece.slot < 0) bad_pattern(text, "unknown capture " + in_quotes(inside.substr(0, bar)));
    inside.remove_prefix(bar);
    while (!inside.empty()) {
      inside.remove_prefix(1);
      const size_t stop = std::min(inside.find('|'), inside.size());
      const Bytes name = inside.substr(0, stop);
      const auto* filter =
          std::find_if(std::begin(filters), std::end(filters), [&](const Filter& f) { return name == f.name; });
      if (filter == std::end(filters)) {
        std::string known;
        for (const Filter& f : filters) known += (known.empty() ? "one of: " : ", ") + std::string(f.name);
        bad_pattern(text, "unknown filter " + in_quotes(name), known);
      }
      piece.filters.push_back(filter->apply);
      inside.remove_prefix(stop);
    }
    pieces_.push_back(std::move(piece));
  }
}

std::string Template::fill(const Captures& captures) const {
  std::string out;
  for (const Piece& piece : pieces_) {
    if (piece.slot < 0) {
      out += piece.text;
      continue;
    }
    std::string held(captures[static_cast<size_t>(piece.slot)]);
    for (const auto filter : piece.filters) filter(held);
    out += held;
  }
  return out;
}

}  // namespace gg
