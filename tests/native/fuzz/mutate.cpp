// Changes of JSON by its structure: of changed bytes, hardly any are JSON, and what lies behind the parser stays
// unseen.
#include <algorithm>
#include <cctype>
#include <iterator>
#include <vector>

#include "targets.hpp"

namespace gg::fuzz {

namespace {

struct Span {
  size_t begin, end;
};

size_t end_of_string(Bytes text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

/// Strings (names, too), numbers, literals, objects and lists, the outermost lines among them.
std::vector<Span> values_of(Bytes text) {
  std::vector<Span> values;
  std::vector<size_t> open;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    size_t end = i + 1;
    if (c == '{' || c == '[') {
      open.push_back(i);
    } else if (c == '}' || c == ']') {
      if (!open.empty()) values.push_back({open.back(), end}), open.pop_back();
    } else if (c == '"') {
      values.push_back({i, end = end_of_string(text, i)});
    } else if (std::isalnum(static_cast<unsigned char>(c)) || c == '-') {
      end = std::min(text.find_first_of(" ,:]}\n", i), text.size());
      values.push_back({i, end});
    }
    i = end;
  }
  return values;
}

constexpr Bytes pieces[] = {
    "null",
    "true",
    "0",
    "-1",
    "3.5",
    "1e400",
    "\"\"",
    "\"x\"",
    "[]",
    "{}",
    "[null]",
    "[[]]",
    "[{}]",
    "[1,\"a\"]",
    "18446744073709551616",
    "\"\\ud800\"",
    "\"q\"",
    "\"a\"",
    "\"\\n\"",
    "\"2026-01-01T00:00:00Z\"",
    "{\"\":null}",
    "\"[1]\"",
    "\"{\\\"id\\\":1}\"",
    "{\"id\":\"a\"}",
    "\"https://m.example.com/a~17?u=b#c\"",
};

}  // namespace

bool change_value(std::string& text, std::mt19937_64& random) {
  const std::vector<Span> values = values_of(text);
  if (values.size() < 3) return false;
  const Span at = values[random() % values.size()], other = values[random() % values.size()];
  const std::string value = text.substr(at.begin, at.end - at.begin);
  std::string changed;
  switch (random() % 7) {
    case 0:
    case 1: changed = pieces[random() % std::size(pieces)]; break;
    case 2: changed = text.substr(other.begin, other.end - other.begin); break;
    case 3: changed = value + "," + text.substr(other.begin, other.end - other.begin); break;
    case 4: changed = value + "," + value; break;
    case 5: changed = random() % 2 ? "[" + value + "]" : "{\"id\":" + value + "}"; break;
    default: {  // removed with the comma behind it
      const bool has_comma = at.end < text.size() && text[at.end] == ',';
      text.erase(at.begin, value.size() + has_comma);
      return true;
    }
  }
  text.replace(at.begin, value.size(), changed);
  return true;
}

}  // namespace gg::fuzz
