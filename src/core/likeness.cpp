#include "likeness.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "text_keys.hpp"

namespace gg {

namespace {

constexpr size_t shortest_start = 20, shortest_passage = 30;  // characters that are no coincidence
constexpr size_t longest_text = 4096, most_passages = 16;     // that are searched for a common passage

/// Where a part begins in a text, or npos: in linear time, except on Windows, whose library has no such search; the
/// texts are short.
size_t place_of(Bytes text, Bytes part) {
#if defined(_WIN32)
  return text.find(part);
#else
  const auto* at = static_cast<const char*>(memmem(text.data(), text.size(), part.data(), part.size()));
  return at ? static_cast<size_t>(at - text.data()) : Bytes::npos;
#endif
}

bool contains(Bytes text, Bytes part) {
  if (part.size() > text.size()) return false;
  // Nearly always already the beginning is missing, and a short one is found fast.
  const size_t start = std::min<size_t>(part.size(), 12);
  const size_t at = place_of(text, part.substr(0, start));
  if (at == Bytes::npos || start == part.size()) return at != Bytes::npos;
  text.remove_prefix(at);
  return text.starts_with(part) || place_of(text, part) != Bytes::npos;
}

constexpr Bytes separators[] = {" - ", " | ", ": ", " · ", " • ", " » ", " › ", " :: ", " / ", " < "};

bool has_separator(Bytes title) {
  return std::any_of(std::begin(separators), std::end(separators),
                     [&](Bytes separator) { return title.find(separator) != Bytes::npos; });
}

/// The pieces of "Topic - Section | Site".
std::vector<Bytes> segments(Bytes title) {
  std::vector<Bytes> pieces;
  while (!title.empty()) {
    size_t at = title.size(), length = 0;
    for (const Bytes separator : separators)
      if (const size_t place = title.find(separator); place < at) at = place, length = separator.size();
    if (at) pieces.push_back(title.substr(0, at));
    title.remove_prefix(std::min(at + length, title.size()));
    if (pieces.size() == most_passages) break;
  }
  return pieces;
}

bool has(const std::vector<Bytes>& all, Bytes one) { return std::find(all.begin(), all.end(), one) != all.end(); }

/// Whether every word is part of the host: "microsoft teams" at teams.microsoft.com.
bool names_host(Bytes words, Bytes host) {
  while (!words.empty()) {
    const size_t stop = std::min(words.find(' '), words.size());
    if (!contains(host, words.substr(0, stop))) return false;
    words.remove_prefix(std::min(stop + 1, words.size()));
  }
  return true;
}

bool cut_short(Bytes whole, Bytes start) {
  const Bytes kept = without_ellipsis(start);
  return whole.starts_with(kept) && (kept.size() >= shortest_start || (kept.size() < start.size() && !kept.empty()));
}

}  // namespace

bool alike_titles(Bytes a, Bytes b, Bytes host) {
  if (a == b || cut_short(a, b) || cut_short(b, a)) return true;
  if (!has_separator(a) && !has_separator(b)) return false;
  const auto x = segments(a), y = segments(b);
  if (x.empty() || y.empty()) return false;
  const auto within = [](const std::vector<Bytes>& few, const std::vector<Bytes>& many) {
    return std::all_of(few.begin(), few.end(), [&](Bytes s) { return has(many, s); });
  };
  if (x.size() != y.size() && (x.size() < y.size() ? within(x, y) : within(y, x)))
    return !names_host(x.size() < y.size() ? a : b, host);
  const bool telling = x.front().find(' ') != Bytes::npos || x.front().size() >= 12;
  return x.front() == y.front() && telling && !names_host(x.front(), host);
}

bool alike_texts(Bytes a, Bytes b) {
  Bytes x = without_ellipsis(a), y = without_ellipsis(b);
  if (x.size() > y.size()) std::swap(x, y);
  if (x.empty() || y.starts_with(x)) return true;
  x = x.substr(0, longest_text);
  y = y.substr(0, longest_text);
  for (const auto& [from, in] : {std::pair{x, y}, std::pair{y, x}}) {
    Bytes rest = from;
    for (size_t n = 0; n < most_passages && !rest.empty(); ++n) {
      const size_t stop = std::min(rest.find(".."), rest.size());  // engines join passages by dots
      Bytes passage = rest.substr(0, stop);
      while (passage.starts_with(' ') || passage.starts_with('.')) passage.remove_prefix(1);
      while (passage.ends_with(' ')) passage.remove_suffix(1);
      if (passage.size() >= shortest_passage && contains(in, passage)) return true;
      rest.remove_prefix(std::min(stop + 2, rest.size()));
    }
  }
  return false;
}

}  // namespace gg
