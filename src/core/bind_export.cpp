#include "bind_export.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "evaluate.hpp"
#include "exact_sum.hpp"
#include "python_values.hpp"

namespace nb = nanobind;

namespace gg {
namespace {

/// A double as Python's repr writes it: the fewest digits that read back as the same number.
void append_repr(std::string& out, double value) {
  char text[32];
  const char* end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  const char* p = text;
  if (*p == '-') out.push_back(*p++);
  const char* mark = static_cast<const char*>(std::memchr(p, 'e', static_cast<size_t>(end - p)));
  std::string digits(1, *p);
  if (mark > p + 2) digits.append(p + 2, mark);
  int exponent = 0;
  std::from_chars(mark + 1 + (mark[1] == '+'), end, exponent);
  const auto count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out.append(digits, 0, 1);
    if (count > 1) out.append(".").append(digits, 1);
    out.append("e").push_back(exponent < 0 ? '-' : '+');
    const std::string size = std::to_string(std::abs(exponent));
    if (size.size() < 2) out.push_back('0');
    out.append(size);
  } else if (exponent < 0) {
    out.append("0.").append(static_cast<size_t>(-exponent - 1), '0').append(digits);
  } else {
    const auto whole = static_cast<size_t>(exponent) + 1;
    if (digits.size() <= whole) out.append(digits).append(whole - digits.size(), '0').append(".0");
    else out.append(digits, 0, whole).append(".").append(digits, whole);
  }
}

void append_json(std::string& out, Bytes text) {
  out.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') out.append("\\").push_back(c);
    else if (static_cast<unsigned char>(c) >= ' ') out.push_back(c);
    else if (c == '\n') out.append("\\n");
    else if (c == '\r') out.append("\\r");
    else if (c == '\t') out.append("\\t");
    else if (c == '\b') out.append("\\b");
    else if (c == '\f') out.append("\\f");
    else {
      static constexpr char hex[] = "0123456789abcdef";
      out.append("\\u00").push_back(hex[c >> 4]);
      out.push_back(hex[c & 15]);
    }
  }
  out.push_back('"');
}

void append_cell(std::string& out, Bytes text, char delimiter) {
  const bool quoted = text.find_first_of("\"\r\n") != Bytes::npos || text.find(delimiter) != Bytes::npos;
  if (!quoted) {
    out.append(text);
    return;
  }
  out.push_back('"');
  for (const char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  out.push_back('"');
}

/// What stands between the values of a line; the query is the only text that differs from line to line.
struct LineLayout {
  std::string before;                // up to the query
  std::vector<std::string> between;  // before each value
  std::string after;
  char delimiter;  // 0 for JSON
};

nb::bytes lines(const Scores& scores, const std::vector<size_t>& places, const LineLayout& layout, bool only_present,
                size_t begin, size_t end) {
  std::string out;
  for (size_t q = begin; q < std::min(end, scores.in_run.size()); ++q) {
    if (only_present && !scores.in_run[q]) continue;
    const Bytes query = scores.qrels->queries()[q];
    out.append(layout.before);
    if (!layout.delimiter) append_json(out, query);
    else append_cell(out, query, layout.delimiter);
    for (size_t i = 0; i < places.size(); ++i) {
      out.append(layout.between[i]);
      const double value = scores.values.at(q * scores.width + places[i]);
      if (std::isfinite(value)) append_repr(out, value);
      else if (!layout.delimiter) out.append("null");
      else if (std::isinf(value)) out.append(value < 0 ? "-inf" : "inf");
    }
    out.append(layout.after);
  }
  return nb::bytes(out.data(), out.size());
}

/// The exact sum of the defined values of a column and their number; None if one is infinite.
nb::object score_total(const Scores& scores, size_t place, bool only_present) {
  ExactSum sum;
  size_t defined = 0;
  for (size_t q = 0; q < scores.in_run.size(); ++q) {
    if (only_present && !scores.in_run[q]) continue;
    const double value = scores.values.at(q * scores.width + place);
    if (std::isnan(value)) continue;
    if (std::isinf(value)) return nb::none();
    sum.add(value);
    ++defined;
  }
  return nb::make_tuple(sum.round(), defined);
}

/// The mean of the defined values of a column, NaN if there is none; None if one is infinite.
nb::object score_mean(const Scores& scores, size_t place, bool only_present) {
  if (scores.in_run.size() == 1 && !only_present && !std::isinf(scores.values.at(place)))
    return nb::float_(scores.values[place]);
  const nb::object facts = score_total(scores, place, only_present);
  if (facts.is_none()) return facts;
  const auto defined = nb::cast<size_t>(facts[1]);
  return nb::float_(defined ? nb::cast<double>(facts[0]) / static_cast<double>(defined)
                            : std::numeric_limits<double>::quiet_NaN());
}

/// The queries as the offsets and the bytes of an Arrow array of long texts.
nb::tuple query_texts(const Scores& scores, bool only_present) {
  std::vector<int64_t> offsets{0};
  std::string text;
  for (size_t q = 0; q < scores.in_run.size(); ++q) {
    if (only_present && !scores.in_run[q]) continue;
    text.append(scores.qrels->queries()[q]);
    offsets.push_back(static_cast<int64_t>(text.size()));
  }
  return nb::make_tuple(nb::bytes(reinterpret_cast<const char*>(offsets.data()), offsets.size() * sizeof(int64_t)),
                        nb::bytes(text.data(), text.size()));
}

nb::bytes column_bytes(const Scores& scores, size_t place, bool only_present) {
  std::vector<double> values;
  values.reserve(scores.in_run.size());
  for (size_t q = 0; q < scores.in_run.size(); ++q)
    if (!only_present || scores.in_run[q]) values.push_back(scores.values.at(q * scores.width + place));
  return nb::bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
}

}  // namespace

void bind_export(nb::module_& m) {
  m.def("score_lines", [](const Scores& scores, std::vector<size_t> places, nb::bytes before,
                          std::vector<nb::bytes> between, nb::bytes after, const std::string& delimiter,
                          bool only_present, size_t begin, size_t end) {
    LineLayout layout{
        {before.c_str(), before.size()}, {}, {after.c_str(), after.size()}, delimiter.empty() ? '\0' : delimiter[0]};
    for (const nb::bytes& text : between) layout.between.emplace_back(text.c_str(), text.size());
    return lines(scores, places, layout, only_present, begin, end);
  });
  m.def("score_mean", &score_mean);
  m.def("score_total", &score_total);
  m.def("query_texts", &query_texts);
  m.def("column_bytes", &column_bytes);
}

}  // namespace gg
