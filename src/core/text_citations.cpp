#include "text_citations.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace gg {

namespace {

constexpr Bytes wide_open = "\xe3\x80\x90", wide_close = "\xe3\x80\x91";  // 【】
constexpr Bytes dagger = "\xe2\x80\xa0";                                  // †
// ChatGPT's own: U+E200 cite U+E202 turn0search1 U+E202 ... U+E201
constexpr Bytes cite_open =
                    "\xee\x88\x80"
                    "cite",
                cite_next = "\xee\x88\x82", cite_close = "\xee\x88\x81";
constexpr size_t longest_link_text = 200, longest_marker = 60, longest_number = 3, shortest_id = 5;
// Of links in parentheses: a limit, so that many unclosed ones take no quadratic time.
constexpr size_t longest_url = 16384;
constexpr Bytes prefixes[] = {"docid", "document", "doc", "source", "reference", "ref", "id", "result", "citation"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_number(Bytes text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

/// A long number, or one word with letters and digits: an id rather than a remark, a year or a date.
bool looks_like_id(Bytes text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (is_number(text)) return text.size() >= shortest_id;
  bool letters = false, digits = false;
  for (const char c : text) {
    letters |= is_letter(c);
    digits |= is_digit(c);
    if (!is_letter(c) && !is_digit(c) && Bytes("._:/#-").find(c) == Bytes::npos) return false;
  }
  return letters && digits && text.size() <= longest_marker;
}

Bytes trimmed(Bytes text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool begins_url(Bytes text) { return text.starts_with("http://") || text.starts_with("https://"); }

/// A URL without what the sentence around it adds.
Bytes trimmed_url(Bytes url) {
  while (!url.empty() && Bytes(".,;:!?*_").find(url.back()) != Bytes::npos) url.remove_suffix(1);
  if (url.ends_with(')') && std::count(url.begin(), url.end(), '(') < std::count(url.begin(), url.end(), ')'))
    url.remove_suffix(1);
  return url;
}

Bytes url_at(Bytes text, Bytes ends) {
  size_t n = 0;
  while (n < text.size() && !is_space(text[n]) && ends.find(text[n]) == Bytes::npos) ++n;
  return text.substr(0, n);
}

std::vector<Bytes> split(Bytes text, Bytes separators) {
  std::vector<Bytes> pieces;
  for (size_t at = 0; at <= text.size();) {
    const size_t next = std::min(text.find_first_of(separators, at), text.size());
    pieces.push_back(trimmed(text.substr(at, next - at)));
    at = next + 1;
  }
  return pieces;
}

class Scanner {
 public:
  Scanner(Bytes text, const std::function<bool(Bytes)>& names) : text_(text), names_(names) { read_references(); }

  std::vector<TextCitation> scan() {
    size_t reference = 0;
    for (size_t at = 0; at < text_.size();) {
      while (reference < spans_.size() && spans_[reference].second <= at) ++reference;
      const bool in_reference = reference < spans_.size() && spans_[reference].first <= at;
      at += std::max<size_t>(1, read_at(text_.substr(at), in_reference));
    }
    std::vector<TextCitation> all = std::move(links_);
    all.insert(all.end(), markers_.begin(), markers_.end());
    for (const TextCitation& citation : urls_)
      if (known_.insert(citation.url).second) all.push_back(citation);
    return all;
  }

 private:
  /// Lines such as "[1] Title https://...", "1. https://..." and "[name]: https://...".
  void read_references() {
    for (size_t at = 0; at < text_.size();) {
      const size_t end = std::min(text_.find('\n', at), text_.size());
      const Bytes line = text_.substr(at, end - at);
      Bytes rest = line;
      while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
      const Bytes name = take_name(rest);
      const size_t http = std::min(rest.find("http://"), rest.find("https://"));
      if (!name.empty() && !rest.empty() && is_space(rest.front()) && http != Bytes::npos) {
        const Bytes url = url_at(rest.substr(http), "<>\"'`])");
        references_.try_emplace(std::string(name), trimmed_url(url));
        spans_.emplace_back(at, static_cast<size_t>(url.data() + url.size() - text_.data()));
      }
      at = end + 1;
    }
  }

  /// The number or name at the beginning of a reference, which is removed from `line`.
  static Bytes take_name(Bytes& line) {
    if (line.starts_with('[')) {
      const size_t close = line.find(']');
      if (close == Bytes::npos || close > longest_marker) return {};
      Bytes name = line.substr(1, close - 1);
      if (name.starts_with('^')) name.remove_prefix(1);
      line.remove_prefix(close + 1);
      const bool defines = line.starts_with(':');
      if (defines) line.remove_prefix(1);
      return defines || is_number(name) ? name : Bytes();
    }
    size_t n = 0;
    while (n < line.size() && is_digit(line[n])) ++n;
    if (n == 0 || n > longest_number || n == line.size() || (line[n] != '.' && line[n] != ')')) return {};
    const Bytes name = line.substr(0, n);
    line.remove_prefix(n + 1);
    return name;
  }

  /// Reads what begins here; the number of bytes it takes, 0 if nothing does.
  size_t read_at(Bytes rest, bool in_reference) {
    if (rest.front() == '[') return read_bracket(rest, in_reference);
    if (rest.front() == 'h' && begins_url(rest)) {
      const Bytes url = url_at(rest, "<>\"'`]|");
      urls_.push_back({std::string(trimmed_url(url)), {}});
      return url.size();
    }
    if (rest.starts_with(wide_open)) {
      const size_t longest = wide_open.size() + 3 * longest_marker + wide_close.size();
      const size_t close = rest.substr(0, longest).find(wide_close);
      const Bytes inside = rest.substr(0, std::min(close, rest.size())).substr(wide_open.size());
      if (close == Bytes::npos || inside.empty() || inside.size() > 3 * longest_marker ||
          inside.find('\n') != Bytes::npos)
        return 0;
      for (const Bytes name : split(inside, ",;"))
        if (!name.empty()) add_marker(name, std::string(wide_open).append(name).append(wide_close));
      return close + wide_close.size();
    }
    if (rest.starts_with(cite_open)) {
      const size_t close = cites_close_ ? rest.find(cite_close) : Bytes::npos;
      cites_close_ = close != Bytes::npos;
      if (!cites_close_) return 0;
      const Bytes cite = rest.substr(0, close);
      for (size_t at = cite.find(cite_next); at != Bytes::npos; at = cite.find(cite_next, at + 1)) {
        const size_t begin = at + cite_next.size(), end = std::min(cite.find(cite_next, begin), close);
        const Bytes name = cite.substr(begin, end - begin);
        if (!name.empty()) add_marker(name, std::string(name));
      }
      return close + cite_close.size();
    }
    return 0;
  }

  size_t read_bracket(Bytes rest, bool in_reference) {
    if (rest.starts_with("[[")) {  // [[1]](https://...)
      const size_t close = rest.substr(0, longest_marker + 1).find(']');
      if (close != Bytes::npos && rest.substr(close).starts_with("]](") && close <= longest_marker)
        return read_link(rest.substr(1, close), rest.substr(close + 2), close + 2);
    }
    const size_t close = rest.find_first_of("[]\n", 1);
    if (close == Bytes::npos || rest[close] != ']' || close > longest_link_text + 1) return 0;
    const Bytes inside = rest.substr(1, close - 1), after = rest.substr(close + 1);
    if (after.starts_with('(')) return read_link(inside, after, close + 1);
    if (in_reference || inside.empty() || inside.size() > longest_link_text) return 0;
    std::vector<Bytes> names;
    for (Bytes name : split(inside.starts_with('^') ? inside.substr(1) : inside, ",;")) {
      if (name.starts_with('^')) name.remove_prefix(1);
      if (!is_marker(name)) return 0;
      names.push_back(name);
    }
    for (const Bytes name : names) add_marker(name, std::string("[").append(name).append("]"));
    return close + 1;
  }

  bool is_marker(Bytes name) const {
    if (is_ordinal(name) || looks_like_id(name) || references_.contains(std::string(name)) || names_(name)) return true;
    const Bytes rest = without_prefix(name);
    return !rest.empty() && (is_number(rest) || looks_like_id(rest) || names_(rest));
  }

  /// [text](https://...), with parentheses in the URL as long as they are balanced.
  size_t read_link(Bytes inside, Bytes after, size_t before) {
    if (inside.empty() || !begins_url(after.substr(1))) return 0;
    size_t n = 1;
    after = after.substr(0, longest_url);
    for (int depth = 0; n < after.size() && !is_space(after[n]); ++n) {
      if (after[n] == '(') ++depth;
      else if (after[n] == ')' && depth-- == 0) break;
    }
    if (n == after.size() || after[n] != ')') return 0;
    const std::string url(after.substr(1, n - 1));
    if (known_.insert(url).second) links_.push_back({url, std::string(inside)});
    return before + n + 1;
  }

  void add_marker(Bytes name, std::string marker) {
    const auto known = references_.find(std::string(name));
    const std::string url(known == references_.end() ? Bytes() : known->second);
    if (known_.insert(url.empty() ? marker : url).second) markers_.push_back({url, std::move(marker)});
  }

  Bytes text_;
  const std::function<bool(Bytes)>& names_;
  std::unordered_map<std::string, Bytes> references_;
  std::vector<std::pair<size_t, size_t>> spans_;  // of references, in order
  std::vector<TextCitation> links_, markers_, urls_;
  std::unordered_set<std::string> known_;
  bool cites_close_ = true;  // whether a mark that closes a citation is still to come
};

}  // namespace

Bytes without_prefix(Bytes text) {
  for (const Bytes prefix : prefixes) {
    if (text.size() <= prefix.size()) continue;
    const bool same = std::equal(prefix.begin(), prefix.end(), text.begin(),
                                 [](char x, char y) { return x == (y >= 'A' && y <= 'Z' ? y + 32 : y); });
    if (!same) continue;
    Bytes rest = text.substr(prefix.size());
    const auto separates = [](char c) { return is_space(c) || c == ':' || c == '#'; };
    if (!separates(rest.front())) continue;
    while (!rest.empty() && separates(rest.front())) rest.remove_prefix(1);
    return rest;
  }
  return {};
}

bool is_ordinal(Bytes name) { return is_number(name) && name.size() <= longest_number; }

std::string marker_name(Bytes marker) {
  marker = trimmed(marker);
  if (marker.starts_with(wide_open) && marker.ends_with(wide_close))
    marker = marker.substr(wide_open.size(), marker.size() - wide_open.size() - wide_close.size());
  else if (marker.size() >= 2 && marker.starts_with('[') && marker.ends_with(']'))
    marker = marker.substr(1, marker.size() - 2);
  if (marker.starts_with('^')) marker.remove_prefix(1);
  return std::string(trimmed(marker.substr(0, marker.find(dagger))));
}

std::vector<TextCitation> text_citations(Bytes text, const std::function<bool(Bytes)>& names) {
  return Scanner(text, names).scan();
}

}  // namespace gg
