#include "text_keys.hpp"

#include <algorithm>

#include "normal_form.hpp"

namespace gg {

namespace {

bool is_ascii(Bytes text) {
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8)
    if (load_8(text.data() + i) & 0x8080808080808080ULL) return false;
  for (; i < text.size(); ++i)
    if (static_cast<unsigned char>(text[i]) >= 0x80) return false;
  return true;
}

}  // namespace

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

}  // namespace gg
