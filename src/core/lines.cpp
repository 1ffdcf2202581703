#include "lines.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>

#include "error.hpp"
#include "fast_float.h"
#include "simdjson.h"

#if defined(__GNUC__) || defined(__clang__)
#define GOODGAIN_INLINE inline __attribute__((always_inline))
#else
#define GOODGAIN_INLINE inline
#endif

namespace gg {

// --- numbers ---

namespace {

constexpr double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
constexpr int most_digits = 15;  // a number of so many and a power of ten are exact: one division rounds once

inline uint64_t load_first_lowest(const char* p) {
  uint64_t word = load_8(p);
  if constexpr (std::endian::native == std::endian::big) word = swap_bytes(word);
  return word;
}

constexpr uint64_t each_byte(uint64_t value) { return 0x0101010101010101ULL * value; }

/// The number that eight digits make, the first one in the lowest byte; each byte is 0 to 9.
inline uint64_t eight_digits(uint64_t word) {
  word = word * 10 + (word >> 8);
  constexpr uint64_t pairs = 0x000000ff000000ffULL;
  return ((word & pairs) * 0x000f424000000064ULL + (word >> 16 & pairs) * 0x0000271000000001ULL) >> 32;
}

/// Digits with a point, at most seven before it and one to eight after it, or up to seven digits without one; false for
/// any other text. Reads up to 17 characters.
GOODGAIN_INLINE bool plain_number(const char* p, size_t size, double& value) {
  const bool negative = *p == '-';
  p += negative;
  size -= negative;
  const uint64_t first = load_first_lowest(p) ^ each_byte('0');  // digits are 0 to 9
  const uint64_t other = first ^ each_byte('.' ^ '0');           // the point is 0
  const uint64_t points = (other - each_byte(1)) & ~other & each_byte(0x80);
  const size_t point = points ? static_cast<size_t>(std::countr_zero(points)) / 8 : 8;
  size_t after = 0;
  uint64_t decimals = 0, whole;
  if (points != 0 && point < size) {
    after = size - point - 1;
    if (after - 1 > 7) return false;
    decimals = (load_first_lowest(p + point + 1) ^ each_byte('0')) << (64 - 8 * after);
    whole = first << (56 - 8 * point) << 8;
    if (point + after == 0) return false;
  } else {
    if (size - 1 > 6) return false;
    whole = first << (64 - 8 * size);
  }
  constexpr uint64_t above_nine = each_byte(0x80 - 10);
  if ((((whole + above_nine) | whole | (decimals + above_nine) | decimals) & each_byte(0x80)) != 0) return false;
  static constexpr uint64_t scales[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  const auto digits = static_cast<int64_t>(eight_digits(whole) * scales[after] + eight_digits(decimals));
  const double magnitude = static_cast<double>(digits) / powers[after];
  value = negative ? -magnitude : magnitude;
  return true;
}

}  // namespace

bool parse_number(Bytes text, double& value) {
  const char* p = text.data();
  const char* end = p + text.size();
  if (p != end && *p == '+') {
    ++p;
    if (p != end && *p == '-') return false;
  }
  const char* q = p;
  const bool negative = q != end && *q == '-';
  q += negative;
  uint64_t digits = 0;
  int count = 0, after_point = 0;
  for (; q != end && static_cast<unsigned>(*q - '0') < 10; ++q, ++count)
    digits = digits * 10 + static_cast<unsigned>(*q - '0');
  if (q != end && *q == '.') {
    const char* point = ++q;
    for (; q != end && static_cast<unsigned>(*q - '0') < 10; ++q)
      digits = digits * 10 + static_cast<unsigned>(*q - '0');
    after_point = static_cast<int>(q - point);
    count += after_point;
  }
  if (q == end && count > 0 && count <= most_digits) {
    const double magnitude = static_cast<double>(digits) / powers[after_point];
    value = negative ? -magnitude : magnitude;
    return true;
  }
  const auto [stop, error] = fast_float::from_chars(p, end, value);
  // An underflow is 0; an overflow is not a number.
  if (error != std::errc() && error != std::errc::result_out_of_range) return false;
  return stop == end && std::isfinite(value);
}

namespace {

GOODGAIN_INLINE bool number_in(Bytes text, const char* end, double& value) {
  if (text.size() == 1 && static_cast<unsigned>(text[0] - '0') < 10) return value = text[0] - '0', true;
  if (end - text.data() >= 24 && plain_number(text.data(), text.size(), value)) return true;
  return parse_number(text, value);
}

}  // namespace

bool parse_number_in(Bytes text, const char* end, double& value) { return number_in(text, end, value); }

namespace {

/// A gain as trec_eval reads it: the whole number before the point or the exponent.
GOODGAIN_INLINE double whole_part(Bytes text, double value) {
  if (text.size() > 2)
    if (const size_t exponent = text.find_first_of("eE"); exponent != Bytes::npos)
      parse_number(text.substr(0, exponent), value);
  return std::trunc(value);
}

constexpr Bytes byte_order_mark = "\xef\xbb\xbf";

LineProblem joined_files(Bytes line) {
  return {"the line " + in_quotes(line) + " begins with a byte order mark",
          "two files were joined here: remove the three bytes of the mark"};
}

}  // namespace

bool parse_boolean(Bytes text, double& value) {
  value = text.size() == 4;
  for (const Bytes word : {"true", "TRUE", "True", "false", "FALSE", "False"})
    if (text == word) return true;
  return false;
}

LineProblem number_problem(Table table, Bytes text) {
  const std::string what = table == Table::run ? "score" : "gain";
  double value = 0;
  const auto [stop, error] = fast_float::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc::invalid_argument && stop == text.data() + text.size() && !std::isfinite(value))
    return {"the " + what + " " + in_quotes(text) + " is not a finite number",
            "remove the line or use a finite number"};
  return {"the " + what + " " + in_quotes(text) + " is not a number",
          table == Table::run ? "a run line is: query Q0 document rank score tag"
                              : "a qrels line is: query 0 document gain"};
}

namespace {

inline bool is_blank(char c) { return static_cast<unsigned char>(c) <= ' '; }

const char* line_end(const char* p, const char* end) {
  const auto* feed = static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(end - p)));
  return feed ? feed : end;
}

constexpr size_t most_tokens = 8;

}  // namespace

// --- TREC ---

/// Splits a line at blanks; `count` is the number of tokens, of which the first eight are stored.
void TrecReader::tokens_of_line(const char*& p, const char* end, Bytes* tokens, size_t& count) {
  count = 0;
  const char* stop = line_end(p, end);
  const char* q = p;
  p = stop == end ? end : stop + 1;
  while (true) {
    while (q != stop && is_blank(*q)) ++q;
    if (q == stop) return;
    const char* from = q;
    while (q != stop && !is_blank(*q)) ++q;
    if (count < most_tokens) tokens[count] = Bytes(from, static_cast<size_t>(q - from));
    ++count;
  }
}

/// Reads lines of at most 64 bytes with the right number of tokens, without a branch per byte.
struct UsualLines {
  /// The tokens of a line; false, with nothing changed, for a line that is not usual.
  template <Table table>
  static GOODGAIN_INLINE bool split(TrecReader& reader, const char*& p, const char* end, Line& line, Bytes& number) {
    if (!reader.marks_.cover(p, end)) return false;
    const Marks marks = reader.marks_.at(p);
    if (marks.feed == 0) return false;
    const uint64_t token = ~marks.blank & (marks.feed - 1) & ~marks.feed;
    // Where tokens begin and end, in turn; the lowest one is dropped by `next`.
    uint64_t edges = token ^ token << 1;
    const auto next = [&edges] { edges &= edges - 1; };
    const auto take = [&] {
      const char* from = p + std::countr_zero(edges);
      next();
      const char* to = p + std::countr_zero(edges);
      next();
      return Bytes(from, static_cast<size_t>(to - from));
    };
    const auto skip = [&] { next(), next(); };
    Bytes aspect;
    const Bytes query = take();
    if constexpr (table == Table::qrels) aspect = take();
    else skip();
    const Bytes doc = take();
    if constexpr (table == Table::run) skip();
    if (edges == 0) return false;  // too few tokens
    number = take();
    if constexpr (table == Table::run) {
      next();
      if (edges == 0) return false;
      next();
    }
    if (edges != 0 || *p == '#' || *p == byte_order_mark[0] || (reader.as_trec_eval_ && query[0] == '#')) return false;
    line.query = query;
    line.doc = doc;
    if (table == Table::qrels && !reader.as_trec_eval_) line.aspect = aspect;
    p += std::countr_zero(marks.feed) + 1;
    return true;
  }

  /// First all lines are split, then all numbers read: lines depend on each other, numbers do not, and the processor
  /// works on several at once.
  template <Table table>
  static GOODGAIN_INLINE void read(TrecReader& reader, const char*& p, const char* end, LineBatch& batch) {
    Bytes numbers[LineBatch::most];
    size_t n = 0, good = 0;
    for (; n < LineBatch::most; ++n) {
      batch.starts[n] = p;
      if (!split<table>(reader, p, end, batch.lines[n], numbers[n])) break;
    }
    for (; good < n; ++good) {
      double& value = batch.lines[good].value;
      if (!number_in(numbers[good], end, value)) break;
      if (table == Table::qrels && reader.as_trec_eval_) value = whole_part(numbers[good], value);
    }
    if (good < n) p = batch.starts[good];
    batch.size = good;
  }

  static GOODGAIN_INLINE void read_table(TrecReader& reader, const char*& p, const char* end, LineBatch& batch) {
    if (reader.table_ == Table::run) read<Table::run>(reader, p, end, batch);
    else read<Table::qrels>(reader, p, end, batch);
  }
  static void read_plainly(TrecReader& reader, const char*& p, const char* end, LineBatch& batch) {
    read_table(reader, p, end, batch);
  }
#if GOODGAIN_X86
  __attribute__((target("avx2,bmi,bmi2"))) static void read_with_bmi(TrecReader& reader, const char*& p,
                                                                     const char* end, LineBatch& batch) {
    read_table(reader, p, end, batch);
  }
#endif
};

const std::vector<TrecReader::ReadUsual>& TrecReader::usual_ways() {
  static const std::vector<ReadUsual> ways = [] {
    std::vector<ReadUsual> all{&UsualLines::read_plainly};
#if GOODGAIN_X86
    if (has_newer_instructions()) all.push_back(&UsualLines::read_with_bmi);
#endif
    return all;
  }();
  return ways;
}

bool TrecReader::next(const char*& p, const char* end, Line& line) {
  Bytes tokens[most_tokens];
  size_t count;
  const char* start = p;
  tokens_of_line(p, end, tokens, count);
  const Bytes whole(start, static_cast<size_t>(line_end(start, end) - start));
  if (whole.starts_with('#')) return false;
  if (whole.starts_with(byte_order_mark)) return fail(joined_files(whole));
  if (has_controls(whole.data(), whole.size()))
    return fail({"the line " + in_quotes(whole) + " contains a control character",
                 "fields end at blanks and tabs; ids with other characters need JSON lines or Parquet"});
  if (count == 0) return false;
  const size_t expected = table_ == Table::run ? 6 : 4;
  if (as_trec_eval_ && table_ == Table::run && tokens[0][0] == '#') return false;
  if (count != expected && !(as_trec_eval_ && table_ == Table::run && count > expected)) {
    return fail({"the line " + in_quotes(whole.substr(0, whole.find('\r'))) + " has " + std::to_string(count) +
                     " column" + (count == 1 ? "" : "s") + ", not " + std::to_string(expected),
                 table_ == Table::run
                     ? (count == 4 ? "a run line is: query Q0 document rank score tag; this looks like qrels"
                                   : "a run line is: query Q0 document rank score tag")
                     : (count == 6 ? "a qrels line is: query 0 document gain; this looks like a run"
                                   : "a qrels line is: query 0 document gain")});
  }
  line.query = tokens[0];
  line.doc = tokens[2];
  const Bytes number = tokens[table_ == Table::run ? 4 : 3];
  if (table_ == Table::qrels && !as_trec_eval_) line.aspect = tokens[1];
  if (!parse_number(number, line.value)) return fail(number_problem(table_, number));
  if (table_ == Table::qrels && as_trec_eval_) line.value = whole_part(number, line.value);
  return true;
}

// --- delimited text ---

/// What databases write for NULL in exports of text.
constexpr Bytes null_mark = "\\N";

bool DelimitedReader::next(const char*& p, const char* end, Line& line) {
  fields_.clear();
  const char* start = p;
  const char* q = p;
  while (true) {  // one field per pass
    if (quotes_ && q != end && *q == '"') {
      unquoted_.clear();
      ++q;
      while (true) {
        const auto* quote = static_cast<const char*>(std::memchr(q, '"', static_cast<size_t>(end - q)));
        if (!quote) return fail({"missing closing quote", "write quotes inside a field as \"\""});
        unquoted_.append(q, quote);
        q = quote + 1;
        if (q == end || *q != '"') break;
        unquoted_.push_back('"');
        ++q;
      }
      fields_.push_back(arena_.keep(unquoted_));
    } else {
      const char* from = q;
      while (q != end && *q != delimiter_ && *q != '\n') ++q;
      const bool carriage = q != from && q[-1] == '\r' && (q == end || *q == '\n');
      fields_.emplace_back(from, static_cast<size_t>(q - from - carriage));
    }
    if (q != end && *q == '\r' && q + 1 != end && q[1] == '\n') ++q;
    if (q == end || *q == '\n') break;
    if (*q != delimiter_) return fail({"unexpected text after a closing quote", "write quotes inside a field as \"\""});
    ++q;
  }
  p = q == end ? end : q + 1;
  if (fields_.size() == 1 && fields_[0].empty()) return false;  // an empty line
  if (const Bytes whole(start, static_cast<size_t>(p - start)); whole.starts_with(byte_order_mark))
    return fail(joined_files(whole.substr(0, whole.find_first_of("\r\n"))));
  if (fields_.size() != columns_.count) {
    const Bytes whole(start, static_cast<size_t>(line_end(start, end) - start));
    return fail({"the line " + in_quotes(whole) + " has " + std::to_string(fields_.size()) +
                     " columns, but the first line has " + std::to_string(columns_.count),
                 ""});
  }
  if (columns_.run != Columns::none && fields_[columns_.run] != columns_.only) return false;
  line.query = fields_[columns_.query];
  line.doc = fields_[columns_.doc];
  line.target = columns_.target == Columns::none ? Bytes() : fields_[columns_.target];
  if (line.target.empty() || line.target == null_mark) line.target = {};
  line.aspect = columns_.aspect == Columns::none ? Bytes() : fields_[columns_.aspect];
  if (line.query.empty() || line.doc.empty())
    return fail({std::string("empty ") + (line.query.empty() ? "query" : "document") + " id", ""});
  if (line.query == null_mark || line.doc == null_mark)
    return fail({std::string("missing ") + (line.query == null_mark ? "query" : "document") + " id: databases write " +
                     in_quotes(null_mark) + " for NULL",
                 ""});
  const Bytes number = fields_[columns_.value];
  if (!parse_number(number, line.value) && !parse_boolean(number, line.value))
    return fail({number_problem(table_, number).message, ""});
  return true;
}

// --- JSON lines ---

struct JsonReader::Parser {
  simdjson::ondemand::parser parser;
  std::string padded;
  std::vector<uint8_t> texts;  // unescaped ones of a line; the parser's own buffer is null when memory is short
};

JsonReader::JsonReader(Table table, ColumnNames keys)
    : table_(table), keys_(std::move(keys)), parser_(std::make_unique<Parser>()) {}
JsonReader::~JsonReader() = default;
JsonReader::JsonReader(JsonReader&&) noexcept = default;

bool JsonReader::next(const char*& p, const char* end, Line& line) {
  const char* stop = line_end(p, end);
  const Bytes text(p, static_cast<size_t>(stop - p));
  p = stop == end ? end : stop + 1;
  if (text.find_first_not_of(" \t\r") == Bytes::npos) return false;

  Parser& json = *parser_;
  json.padded.assign(text);
  json.padded.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  json.texts.resize(std::max(json.texts.size(), text.size() + simdjson::SIMDJSON_PADDING));
  uint8_t* free_text = json.texts.data();
  const auto error = json.parser.iterate(json.padded.data(), text.size(), json.padded.capacity()).get(document);
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  if (error || document.get_object().get(object))
    return fail({"the line " + in_quotes(text) + " is not a JSON object", ""});

  Line row{};
  Bytes value, run;
  unsigned seen = 0;  // one bit for each of them
  for (auto member : object) {
    std::string_view key;
    simdjson::ondemand::value held;
    simdjson::ondemand::raw_json_string raw;
    if (member.key().get(raw) || json.parser.unescape(raw, free_text).get(key) || member.value().get(held))
      return fail({"the line " + in_quotes(text) + " is not a JSON object", ""});
    Bytes* place = key == keys_.query    ? &row.query
                   : key == keys_.doc    ? &row.doc
                   : key == keys_.value  ? &value
                   : key == keys_.target ? &row.target
                   : key == keys_.aspect ? &row.aspect
                   : key == keys_.run    ? &run
                                         : nullptr;
    if (!place) {
      if (!keys_.refused.empty() && std::find(keys_.refused.begin(), keys_.refused.end(), key) != keys_.refused.end() &&
          !held.is_null().value_unsafe())
        return fail({"the line " + in_quotes(text) + " has a score, but the first line has only a rank",
                     "a run has scores in all lines or in none"});
      continue;
    }
    const auto bit = static_cast<unsigned>(1) << (place == &value        ? 0
                                                  : place == &row.query  ? 1
                                                  : place == &row.doc    ? 2
                                                  : place == &row.target ? 3
                                                  : place == &row.aspect ? 4
                                                                         : 5);
    if (seen & bit) return fail({"field " + in_quotes(key) + " occurs twice", ""});
    seen |= bit;
    simdjson::ondemand::json_type type;
    if (held.type().get(type)) return fail({"the line " + in_quotes(text) + " is not valid JSON", ""});
    std::string_view content;
    if (type == simdjson::ondemand::json_type::string) {
      if (held.get_raw_json_string().get(raw) || json.parser.unescape(raw, free_text).get(content))
        return fail({"the line " + in_quotes(text) + " contains an invalid string", ""});
    } else if (type == simdjson::ondemand::json_type::number) {
      content = held.raw_json_token();
      while (!content.empty() && is_blank(content.back())) content.remove_suffix(1);
    } else if (type == simdjson::ondemand::json_type::boolean && place == &value) {
      content = held.get_bool().value_unsafe() ? "1" : "0";
    } else if (type != simdjson::ondemand::json_type::null) {
      return fail({"field " + in_quotes(key) + " must be text or a number", ""});
    }
    *place = content.empty() ? Bytes() : arena_.keep(content);
  }
  if (!document.at_end()) return fail({"the line " + in_quotes(text) + " has text after its JSON object", ""});
  if (!keys_.run.empty() && run != keys_.only) return false;
  for (const auto& [bytes, key] : {std::pair{row.query, &keys_.query}, {row.doc, &keys_.doc}, {value, &keys_.value}})
    if (bytes.empty()) return fail({"the line " + in_quotes(text) + " has no field " + in_quotes(*key), ""});
  if (!parse_number(value, row.value)) return fail({number_problem(table_, value).message, ""});
  line = row;
  return true;
}

}  // namespace gg
