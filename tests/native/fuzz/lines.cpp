// One line, and one number.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "formats.hpp"
#include "marks.hpp"
#include "targets.hpp"

namespace gg::fuzz {

namespace {

// --- one line at a time: where it lies in memory does not matter ---

struct ReadLine {
  bool is_line = false;
  std::string query, doc, target, aspect, problem;
  uint64_t value = 0;
  size_t used = 0;
  bool operator==(const ReadLine&) const = default;
};

template <class Reader>
ReadLine read_line(Reader& reader, const char* begin, const char* end) {
  Line line{};
  const char* p = begin;
  ReadLine result;
  result.is_line = reader.next(p, end, line);
  result.used = static_cast<size_t>(p - begin);
  if (const auto problem = reader.take_problem()) result.problem = problem->message + problem->hint;
  if (!result.is_line) return result;
  result.query = line.query, result.doc = line.doc, result.target = line.target, result.aspect = line.aspect;
  result.value = std::bit_cast<uint64_t>(line.value);
  return result;
}

/// A reader that looks at 64 bytes at once, and a new one at the end of its memory, where it cannot.
template <class Make>
void compare_lines(Bytes text, const Make& make) {
  auto wide = make(), narrow = make();
  for (size_t at = 0; at < text.size();) {
    const char *begin = text.data() + at, *end = text.data() + text.size();
    const ReadLine first = read_line(wide, begin, end);
    size_t size = first.used;
    if (size == 0) {  // a problem: the reader goes on after the line
      const size_t feed = text.find('\n', at);
      size = (feed == Bytes::npos ? text.size() : feed + 1) - at;
    } else {
      const std::unique_ptr<char[]> alone(new char[size]);
      std::memcpy(alone.get(), begin, size);
      narrow.forget();
      if (!(read_line(narrow, alone.get(), alone.get() + size) == first)) differ("fast and slow line", text);
    }
    at += size;
    wide.forget();
  }
}

/// All ways to find blanks and line feeds give the same bits.
void compare_marks(Bytes text) {
  std::string padded(text);
  padded.resize((text.size() + 63) / 64 * 64, '\n');
  const size_t words = padded.size() / 64;
  std::vector<Marks> expected(words), marks(words);
  const auto& ways = mark_ways();
  ways.front().mark(padded.data(), words, expected.data());
  for (const MarkWay& way : ways) {
    way.mark(padded.data(), words, marks.data());
    for (size_t i = 0; i < words; ++i)
      if (marks[i].blank != expected[i].blank || marks[i].feed != expected[i].feed) differ(way.name, text);
  }
}

/// Lines read several at a time, in every way that the machine has, are those read one by one.
void compare_usual(Bytes text, Table table, bool as_trec_eval) {
  const char* end = text.data() + text.size();
  for (const auto way : TrecReader::usual_ways()) {
    TrecReader many(table, as_trec_eval), one(table, as_trec_eval);
    many.read_usual_by(way);
    LineBatch batch;
    Line line{};
    for (const char* p = text.data(); p < end;) {
      many.next_usual(p, end, batch);
      batch.starts[batch.size] = p;
      for (size_t i = 0; i < batch.size; ++i) {
        const ReadLine expected = read_line(one, batch.starts[i], end);
        const Line& read = batch.lines[i];
        if (!expected.is_line || expected.used != static_cast<size_t>(batch.starts[i + 1] - batch.starts[i]) ||
            expected.query != read.query || expected.doc != read.doc || expected.aspect != read.aspect ||
            expected.value != std::bit_cast<uint64_t>(read.value))
          differ("usual and other lines", text);
      }
      if (batch.size == LineBatch::most || p == end) continue;
      many.next(p, end, line);
      many.take_problem();
    }
  }
}

}  // namespace

void lines(Bytes bytes) {
  const auto [choice, text] = chosen_by(bytes);
  const LineFormat& format = formats()[choice % formats().size()];
  const Table table = choice / formats().size() % 2 ? Table::qrels : Table::run;
  switch (format.kind) {
    case LineFormat::Kind::trec:
      compare_marks(text);
      compare_lines(text, [&] { return TrecReader(table, format.as_trec_eval); });
      compare_usual(text, table, format.as_trec_eval);
      break;
    case LineFormat::Kind::json: compare_lines(text, [&] { return JsonReader(table, format.keys); }); break;
    default:
      compare_lines(text, [&] { return DelimitedReader(table, format.delimiter, format.quotes, format.columns); });
  }
}

// --- numbers ---

namespace {

/// The number by the C library; only decimal forms and one sign.
bool number_by_library(Bytes text, double& value) {
  const std::string copy(text);
  const char* begin = copy.c_str();
  if (*begin == '+' && begin[1] != '-' && begin[1] != '+') ++begin;
  const char first = *begin == '-' ? begin[1] : *begin;
  if (!(first == '.' || (first >= '0' && first <= '9'))) return false;
  // Hexadecimal ones are left out here, and bytes that some libraries pass over: mingw-w64's ends behind a 0xFF.
  if (copy.find_first_not_of("0123456789+-.eE") != std::string::npos) return false;
  char* end = nullptr;
  value = std::strtod(begin, &end);
  return end == copy.c_str() + copy.size() && std::isfinite(value);
}

}  // namespace

void numbers(Bytes text) {
  const std::string roomy = std::string(text) + std::string(64, '7');
  double plain = 0, eager = 0, by_library = 0;
  const bool is_number = parse_number(text, plain);
  const Bytes inside = Bytes(roomy).substr(0, text.size());
  if (!text.empty() && (parse_number_in(inside, roomy.data() + roomy.size(), eager) != is_number ||
                        (is_number && std::bit_cast<uint64_t>(plain) != std::bit_cast<uint64_t>(eager))))
    differ("fast and slow number", text);
  if (number_by_library(text, by_library) != is_number ||
      (is_number && std::bit_cast<uint64_t>(plain) != std::bit_cast<uint64_t>(by_library)))
    differ("our number and the library's", text);
}

}  // namespace gg::fuzz
