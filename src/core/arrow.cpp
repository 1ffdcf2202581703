#include "arrow.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>

#include "error.hpp"

namespace gg {

namespace {

bool valid(const ArrowArray& array, int64_t row) {
  if (array.null_count == 0 || array.n_buffers == 0 || !array.buffers[0]) return true;
  const int64_t i = row + array.offset;
  return (static_cast<const uint8_t*>(array.buffers[0])[i / 8] >> (i % 8)) & 1;
}

template <class T>
T at(const ArrowArray& array, int64_t row, size_t buffer = 1) {
  return static_cast<const T*>(array.buffers[buffer])[row + array.offset];
}

/// An integer of any width; nothing for other types.
std::optional<int64_t> integer_at(char format, const ArrowArray& array, int64_t row) {
  switch (format) {
    case 'c': return at<int8_t>(array, row);
    case 'C': return at<uint8_t>(array, row);
    case 's': return at<int16_t>(array, row);
    case 'S': return at<uint16_t>(array, row);
    case 'i': return at<int32_t>(array, row);
    case 'I': return at<uint32_t>(array, row);
    case 'l': return at<int64_t>(array, row);
    case 'L': return static_cast<int64_t>(at<uint64_t>(array, row));
    default: return std::nullopt;
  }
}

/// A fixed-point number: `d:precision,scale` with 128 bits unless a third number says otherwise.
struct Decimal {
  int scale = 0, bits = 128;
};

std::optional<Decimal> decimal_format(const char* format) {
  if (format[0] != 'd' || format[1] != ':') return std::nullopt;
  Decimal decimal;
  int precision = 0;
  if (std::sscanf(format, "d:%d,%d,%d", &precision, &decimal.scale, &decimal.bits) < 2) return std::nullopt;
  if (decimal.bits != 32 && decimal.bits != 64 && decimal.bits != 128 && decimal.bits != 256) return std::nullopt;
  return decimal;
}

/// The digits of a decimal without its point: two's complement in little-endian words, divided by hand.
std::string digits_at(const Decimal& decimal, const ArrowArray& array, int64_t row) {
  const size_t words = static_cast<size_t>(decimal.bits) / 32;
  uint32_t number[8];
  std::memcpy(number, static_cast<const char*>(array.buffers[1]) + 4 * words * static_cast<size_t>(row + array.offset),
              4 * words);
  const bool negative = number[words - 1] >> 31;
  if (negative) {
    uint64_t carry = 1;
    for (size_t i = 0; i < words; ++i) {
      carry += static_cast<uint32_t>(~number[i]);
      number[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }
  std::string digits;
  while (true) {
    uint64_t rest = 0;
    bool zero = true;
    for (size_t i = words; i-- > 0;) {
      const uint64_t part = rest << 32 | number[i];
      number[i] = static_cast<uint32_t>(part / 1000000000);
      rest = part % 1000000000;
      zero &= number[i] == 0;
    }
    for (int i = 0; i < 9 && (!zero || rest); ++i, rest /= 10) digits.push_back(static_cast<char>('0' + rest % 10));
    if (zero) break;
  }
  if (digits.empty()) digits = "0";
  if (negative) digits.push_back('-');
  std::reverse(digits.begin(), digits.end());
  return digits;
}

/// The double nearest to a decimal: one division of two exact numbers where that is possible.
double decimal_at(const Decimal& decimal, const ArrowArray& array, int64_t row) {
  static constexpr double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const size_t bytes = static_cast<size_t>(decimal.bits) / 8;
  const char* from = static_cast<const char*>(array.buffers[1]) + bytes * static_cast<size_t>(row + array.offset);
  if (decimal.scale >= 0 && decimal.scale < 16 && bytes >= 8) {
    int64_t low;
    std::memcpy(&low, from, 8);
    bool fits = low > -(int64_t{1} << 53) && low < int64_t{1} << 53;
    for (size_t i = 8; i < bytes; ++i) fits &= from[i] == (low < 0 ? '\xff' : '\0');
    if (fits) return static_cast<double>(low) / powers[decimal.scale];
  }
  const std::string text = digits_at(decimal, array, row) + "e" + std::to_string(-decimal.scale);
  double value = std::nan("");
  parse_number(text, value);
  return value;
}

/// A number of 16 bits: a sign, 5 bits of exponent, 10 of fraction.
double half_at(const ArrowArray& array, int64_t row) {
  const auto bits = at<uint16_t>(array, row);
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return std::nan("");  // infinite, or no number
  const double magnitude = exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
  return bits >> 15 ? -magnitude : magnitude;
}

const ArrowSchema& values_of(const ArrowSchema& schema) { return schema.dictionary ? *schema.dictionary : schema; }

bool bit_at(const ArrowArray& array, int64_t row) {
  const int64_t i = row + array.offset;
  return (static_cast<const uint8_t*>(array.buffers[1])[i / 8] >> (i % 8)) & 1;
}

bool is_integer_format(const char* format) { return format[0] && !format[1] && std::strchr("cCsSiIlL", format[0]); }

/// The text of an element of a view array: short texts are inline, long ones in a data buffer.
Bytes view_at(const ArrowArray& array, int64_t row) {
  const auto* view = static_cast<const char*>(array.buffers[1]) + 16 * (row + array.offset);
  int32_t length, buffer, offset;
  std::memcpy(&length, view, 4);
  if (length <= 12) return {view + 4, static_cast<size_t>(length)};
  std::memcpy(&buffer, view + 8, 4);
  std::memcpy(&offset, view + 12, 4);
  return {static_cast<const char*>(array.buffers[2 + buffer]) + offset, static_cast<size_t>(length)};
}

template <class Offset>
Bytes text_at(const ArrowArray& array, int64_t row) {
  const Offset* offsets = static_cast<const Offset*>(array.buffers[1]) + row + array.offset;
  const auto* text = static_cast<const char*>(array.buffers[2]);
  return {text ? text + offsets[0] : "", static_cast<size_t>(offsets[1] - offsets[0])};
}

template <class Offset>
void check_offsets(const ArrowArray& array, const std::string& place) {
  const Offset* offsets = static_cast<const Offset*>(array.buffers[1]) + array.offset;
  bool ordered = offsets[0] >= 0;
  for (int64_t i = 0; i < array.length; ++i) ordered &= offsets[i] <= offsets[i + 1];
  if (!ordered) bad_input("damaged Arrow data: the offsets of texts are not in order", place);
}

bool is_text_format(const char* f) {
  return !std::strcmp(f, "u") || !std::strcmp(f, "U") || !std::strcmp(f, "vu") || !std::strcmp(f, "z") ||
         !std::strcmp(f, "Z") || !std::strcmp(f, "vz");
}

/// Refuses what would be read outside its buffers. Sizes of buffers are not part of the C interface: whoever makes
/// the data answers for them, and files are validated before they come here.
void check_array(const ArrowSchema& schema, const ArrowArray& array, const std::string& place) {
  const auto damaged = [&](const char* what) { bad_input(std::string("damaged Arrow data: ") + what, place); };
  if (array.length < 0 || array.offset < 0) damaged("a negative length");
  if (!array.length) return;
  const char* f = schema.format;
  const bool is_view = f[0] == 'v', is_plain_text = !is_view && is_text_format(f);
  if (array.n_buffers < (is_plain_text ? 3 : is_view ? 3 : 2) || !array.buffers[1]) damaged("a buffer is missing");
  if (f[0] == 'u' || f[0] == 'z') check_offsets<int32_t>(array, place);
  if (f[0] == 'U' || f[0] == 'Z') check_offsets<int64_t>(array, place);
  if (is_view) {
    for (int64_t i = 0; i < array.length; ++i) {
      const auto* view = static_cast<const char*>(array.buffers[1]) + 16 * (i + array.offset);
      int32_t length, buffer, offset;
      std::memcpy(&length, view, 4);
      std::memcpy(&buffer, view + 8, 4);
      std::memcpy(&offset, view + 12, 4);
      // The last buffer holds the sizes of the others.
      if (!valid(array, i) || (length >= 0 && length <= 12)) continue;
      if (length < 0 || buffer < 0 || buffer >= array.n_buffers - 3 || offset < 0) damaged("a view leads nowhere");
      const auto* sizes = static_cast<const int64_t*>(array.buffers[array.n_buffers - 1]);
      if (sizes && int64_t{offset} + length > sizes[buffer]) damaged("a view leads nowhere");
    }
  }
  if (!schema.dictionary) return;
  if (!array.dictionary) damaged("the dictionary is missing");
  if (!is_integer_format(f)) damaged("a dictionary's index is not an integer");
  for (int64_t i = 0; i < array.length; ++i)
    if (valid(array, i)) {
      const int64_t place_in_dictionary = *integer_at(f[0], array, i);
      if (place_in_dictionary < 0 || place_in_dictionary >= array.dictionary->length)
        damaged("an index is outside its dictionary");
    }
  check_array(*schema.dictionary, *array.dictionary, place);
}

}  // namespace

/// Ids of one column of one batch; integers are converted to decimal text in the arena.
struct ArrowTable::Ids {
  const ArrowSchema& schema;
  const ArrowArray& array;
  std::string place;  // "column 'x' of name"
  std::optional<Decimal> decimal = decimal_format(values_of(schema).format);

  Bytes get(int64_t row, int64_t row_number, Arena& arena) const {
    return at_row(schema, array, row, row_number, arena);
  }

 private:
  Bytes at_row(const ArrowSchema& of, const ArrowArray& in, int64_t row, int64_t row_number, Arena& arena) const {
    if (!valid(in, row)) bad_input("missing id", place + ", row " + std::to_string(row_number));
    const char* f = of.format;
    if (of.dictionary) return at_row(*of.dictionary, *in.dictionary, *integer_at(f[0], in, row), row_number, arena);
    if (f[0] == 'u' || f[0] == 'z') return text_at<int32_t>(in, row);
    if (f[0] == 'U' || f[0] == 'Z') return text_at<int64_t>(in, row);
    if (f[0] == 'v') return view_at(in, row);
    if (decimal) return arena.keep(digits_at(*decimal, in, row));
    char digits[24];
    char* end;
    if (f[0] == 'L') end = std::to_chars(digits, digits + 24, at<uint64_t>(in, row)).ptr;
    else end = std::to_chars(digits, digits + 24, *integer_at(f[0], in, row)).ptr;
    return arena.keep({digits, static_cast<size_t>(end - digits)});
  }
};

struct ArrowTable::Numbers {
  const ArrowSchema& schema;
  const ArrowArray& array;
  std::string place;
  Table table;
  std::optional<Decimal> decimal = decimal_format(values_of(schema).format);

  double get(int64_t row, int64_t row_number) const {
    const double value = at_row(schema, array, row);
    if (!std::isfinite(value))
      bad_input(std::string("the ") + (table == Table::run ? "score" : "gain") + " is missing or not a finite number",
                place + ", row " + std::to_string(row_number));
    return value;
  }

 private:
  double at_row(const ArrowSchema& of, const ArrowArray& in, int64_t row) const {
    if (!valid(in, row)) return std::nan("");
    if (of.dictionary) return at_row(*of.dictionary, *in.dictionary, *integer_at(of.format[0], in, row));
    if (of.format[0] == 'g') return at<double>(in, row);
    if (of.format[0] == 'f') return static_cast<double>(at<float>(in, row));
    if (of.format[0] == 'L') return static_cast<double>(at<uint64_t>(in, row));
    if (of.format[0] == 'e') return half_at(in, row);
    if (of.format[0] == 'b') return bit_at(in, row) ? 1 : 0;
    if (decimal) return decimal_at(*decimal, in, row);
    return static_cast<double>(*integer_at(of.format[0], in, row));
  }
};

ArrowTable::ArrowTable(ArrowArrayStream& stream, std::string name) : name_(std::move(name)) {
  const auto check = [&](int status) {
    if (status == 0) return;
    const char* why = stream.get_last_error(&stream);
    bad_input("cannot read the data: " + std::string(why ? why : "unknown error"), name_);
  };
  try {
    check(stream.get_schema(&stream, &schema_));
    while (true) {
      pause_point();
      ArrowArray batch{};
      check(stream.get_next(&stream, &batch));
      if (!batch.release) break;
      batches_.push_back(batch);
      if (batch.n_children != schema_.n_children) bad_input("damaged Arrow data: columns are missing", name_);
    }
  } catch (...) {  // a stream that fails midway leaves nothing behind
    release();
    throw;
  }
}

ArrowTable::~ArrowTable() { release(); }

void ArrowTable::release() {
  for (ArrowArray& batch : batches_)
    if (batch.release) batch.release(&batch);
  batches_.clear();
  if (schema_.release) schema_.release(&schema_);
}

void ArrowTable::check_columns(std::initializer_list<size_t> columns) const {
  for (const ArrowArray& batch : batches_)
    for (const size_t c : columns) {
      const ArrowArray& array = *batch.children[c];
      if (batch.length < 0 || batch.offset < 0 || array.length < batch.length + batch.offset)
        bad_input("damaged Arrow data: a column is shorter than its batch", place_of(c));
      check_array(*schema_.children[c], array, place_of(c));
    }
}

std::vector<std::string> ArrowTable::column_names() const {
  std::vector<std::string> names;
  for (int64_t c = 0; c < schema_.n_children; ++c) names.emplace_back(schema_.children[c]->name);
  return names;
}

std::string ArrowTable::place_of(size_t c) const {
  return "column " + in_quotes(schema_.children[c]->name) + " of " + name_;
}

size_t ArrowTable::column(const std::string& name) const {
  for (int64_t c = 0; c < schema_.n_children; ++c)
    if (name == schema_.children[c]->name) return static_cast<size_t>(c);
  std::string available;
  for (const std::string& column : column_names())
    available += (available.empty() ? "available columns: " : ", ") + column;
  bad_input("column " + in_quotes(name) + " not found", name_, available);
}

/// The kind of an id column, which must hold text or integers.
IdKind ArrowTable::kind(size_t c) const {
  const ArrowSchema* schema = schema_.children[c];
  if (schema->dictionary) schema = schema->dictionary;
  if (is_text_format(schema->format)) return IdKind::text;
  if (is_integer_format(schema->format)) return IdKind::integer;
  if (const auto decimal = decimal_format(schema->format); decimal && decimal->scale == 0) return IdKind::integer;
  bad_input("id column " + in_quotes(schema_.children[c]->name) + " must hold text or integers", name_,
            "its Arrow type is " + std::string(schema->format));
}

void ArrowTable::require_numbers(size_t c) const {
  const ArrowSchema* schema = schema_.children[c];
  const char* format = schema->dictionary ? schema->dictionary->format : schema->format;
  if (is_integer_format(format) || decimal_format(format)) return;
  for (const char* number : {"e", "f", "g", "b"})
    if (!std::strcmp(format, number)) return;
  bad_input("column " + in_quotes(schema_.children[c]->name) + " must hold numbers", name_,
            "its Arrow type is " + std::string(format));
}

void ArrowTable::for_each(const ColumnNames& names, Table table, const std::function<void(const Line&, uint64_t)>& row,
                          BadRows* bad) const {
  const size_t query = column(names.query), doc = column(names.doc), value = column(names.value);
  const size_t target = names.target.empty() ? query : column(names.target);
  const size_t aspect = names.aspect.empty() ? query : column(names.aspect);
  const size_t run = names.run.empty() ? query : column(names.run);
  for (const size_t c : {query, doc, target, aspect, run}) kind(c);
  require_numbers(value);
  check_columns({query, doc, target, aspect, run, value});
  int64_t number = 0;
  Arena arena;
  for (const ArrowArray& batch : batches_) {
    const auto ids = [&](size_t c) { return Ids{*schema_.children[c], *batch.children[c], place_of(c)}; };
    const Ids queries = ids(query), docs = ids(doc), targets = ids(target), aspects = ids(aspect), runs = ids(run);
    const Numbers values{*schema_.children[value], *batch.children[value], place_of(value), table};
    for (int64_t i = 0; i < batch.length; ++i) {
      const int64_t r = i + batch.offset;
      pause_point(static_cast<uint64_t>(++number));
      arena.clear();
      Line line{};
      if (!names.run.empty() && runs.get(r, number, arena) != names.only) continue;
      try {
        line = {queries.get(r, number, arena), docs.get(r, number, arena), {}, {}, values.get(r, number)};
        if (!names.target.empty() && valid(*batch.children[target], r)) line.target = targets.get(r, number, arena);
        if (!names.aspect.empty() && valid(*batch.children[aspect], r)) line.aspect = aspects.get(r, number, arena);
      } catch (const Error& e) {
        if (!bad) throw;
        // In one table of many, row numbers mean nothing to a person; ids do.
        const auto id = [&](const Ids& of) {
          return valid(of.array, r) ? in_quotes(of.get(r, number, arena)) : "none";
        };
        bad->add(bad->count ? std::string()
                            : std::string(e.what()) + " (" + name_ + ", query " + id(queries) + ", document " +
                                  id(docs) + ")");
        continue;
      }
      if (line.target.empty()) line.target = {};
      row(line, static_cast<uint64_t>(number));
    }
  }
}

void ArrowTable::for_each_text(const std::string& name, const std::function<void(Bytes)>& use) const {
  const size_t text = column(name);
  if (kind(text) != IdKind::text) bad_input("column " + in_quotes(name) + " must hold text", name_);
  check_columns({text});
  Arena arena;  // stays empty: texts are bytes already
  for (const ArrowArray& batch : batches_) {
    const Ids texts{*schema_.children[text], *batch.children[text], name_};
    for (int64_t i = batch.offset; i < batch.offset + batch.length; ++i)
      if (valid(*batch.children[text], i)) use(texts.get(i, i, arena));
  }
}

void ArrowTable::for_each_piece(const std::function<void(Bytes, int64_t, int64_t, Bytes)>& use) const {
  const size_t query = column("query"), kind = column("kind"), place = column("place"), piece = column("piece");
  check_columns({query, kind, place, piece});
  Arena arena;  // stays empty: both columns are bytes already
  int64_t number = 0;
  for (const ArrowArray& batch : batches_) {
    const auto ids = [&](size_t c) { return Ids{*schema_.children[c], *batch.children[c], name_}; };
    const auto whole = [&](size_t c, int64_t row) {
      return *integer_at(schema_.children[c]->format[0], *batch.children[c], row);
    };
    const Ids queries = ids(query), pieces = ids(piece);
    for (int64_t i = 0; i < batch.length; ++i) {
      const int64_t r = i + batch.offset;
      ++number;
      use(queries.get(r, number, arena), whole(kind, r), whole(place, r), pieces.get(r, number, arena));
    }
  }
}

std::unique_ptr<Qrels> ArrowTable::qrels(const ColumnNames& names) const {
  QrelsBuilder builder;
  for_each(names, Table::qrels, [&](const Line& line, uint64_t number) {
    builder.add(line.query, line.doc, line.value, number, line.target, line.aspect);
  });
  if (builder.empty()) bad_input("the table contains no judgments", name_);
  auto qrels = builder.finish(name_, false);
  qrels->query_kind = kind(column(names.query));
  qrels->doc_kind = kind(column(names.doc));
  return qrels;
}

std::vector<std::string> ArrowTable::distinct(const std::string& name) const {
  const size_t c = column(name);
  kind(c);
  check_columns({c});
  IdTable values;
  Arena arena;
  int64_t number = 0;
  for (const ArrowArray& batch : batches_) {
    const Ids ids{*schema_.children[c], *batch.children[c], place_of(c)};
    for (int64_t i = batch.offset; i < batch.offset + batch.length; ++i) {
      arena.clear();
      values.add(ids.get(i, ++number, arena));
    }
  }
  std::vector<std::string> listed;
  for (size_t i = 0; i < values.size(); ++i) listed.emplace_back(values[i]);
  return listed;
}

std::vector<uint8_t> ArrowTable::judged(const Qrels& qrels, const std::string& query_name, const std::string& run_name,
                                        const std::string& only, SeenQueries& seen) const {
  const size_t query = column(query_name), run = run_name.empty() ? query : column(run_name);
  kind(query), kind(run);
  check_columns({query, run});
  std::vector<uint8_t> bits;
  size_t place = 0;
  Arena arena;
  std::string last;
  bool follows = false, is_judged = false;
  for (const ArrowArray& batch : batches_) {
    const Ids queries{*schema_.children[query], *batch.children[query], place_of(query)};
    const Ids runs{*schema_.children[run], *batch.children[run], place_of(run)};
    bits.resize((place + static_cast<size_t>(batch.length) + 7) / 8);
    for (int64_t r = batch.offset; r < batch.offset + batch.length; ++r, ++place) {
      arena.clear();
      const auto number = static_cast<int64_t>(place) + 1;
      if (!run_name.empty() && runs.get(r, number, arena) != only) continue;
      ++seen.rows;
      const Bytes id = queries.get(r, number, arena);
      if (!follows || id != last) {
        is_judged = qrels.find(id) != IdTable::none;
        if (!is_judged) seen.unjudged.add(id);
        last = id;
        follows = true;
      }
      if (is_judged) bits[place / 8] |= static_cast<uint8_t>(1 << place % 8);
    }
  }
  return bits;
}

Scores ArrowTable::evaluate(std::shared_ptr<const Qrels> qrels, const ColumnNames& names, const Plan& plan,
                            unsigned threads, const std::vector<std::string>& without_results) const {
  const size_t query = column(names.query), doc = column(names.doc), value = column(names.value);
  const size_t run = names.run.empty() ? query : column(names.run);
  Scores scores = empty_scores(qrels, plan);
  require_numbers(value);
  const IdKind query_kind = kind(query), doc_kind = kind(doc);
  kind(run);
  check_columns({query, doc, value, run});

  struct Segment {
    uint32_t query, batch;
    int64_t begin, end, number;  // rows of the batch; number: of the first one within the table
  };
  std::vector<Segment> segments;
  IdTable unjudged;
  Arena arena;
  int64_t number = 0, of_other_runs = 0;
  bool kinds_known = false;
  for (uint32_t b = 0; b < batches_.size(); ++b) {
    const ArrowArray& batch = batches_[b];
    const Ids queries{*schema_.children[query], *batch.children[query], place_of(query)};
    const Ids docs{*schema_.children[doc], *batch.children[doc], place_of(doc)};
    const Numbers values{*schema_.children[value], *batch.children[value], place_of(value), Table::run};
    const Ids runs{*schema_.children[run], *batch.children[run], place_of(run)};
    // Rows of judged queries are checked when they are measured; a bad row is bad in an unjudged query too.
    const auto check = [&](int64_t row) {
      try {
        docs.get(row, number + 1, arena);
        values.get(row, number + 1);
      } catch (const Error& e) {
        if (!plan.skip_bad) throw;
        scores.bad.add(as_example(e));
      }
    };
    Bytes last;
    bool follows = false, is_judged = false;  // whether `last` is the previous row, and judged
    for (int64_t i = 0; i < batch.length; ++i, ++number) {
      if (!names.run.empty() && runs.get(i + batch.offset, number + 1, arena) != names.only) {
        ++of_other_runs;
        follows = false;
        continue;
      }
      pause_point(static_cast<uint64_t>(number));
      if (plan.skip_bad && !valid(*batch.children[query], i + batch.offset)) {
        scores.bad.add("missing id (" + queries.place + ", row " + std::to_string(number + 1) + ")");
        follows = false;
        continue;
      }
      const Bytes id = queries.get(i + batch.offset, number + 1, arena);
      if (follows && id == last) {
        if (!segments.empty() && segments.back().batch == b && segments.back().end == i) segments.back().end = i + 1;
      } else {
        if (!kinds_known && valid(*batch.children[doc], i + batch.offset)) {
          kinds_known = true;
          const Bytes first = docs.get(i + batch.offset, number + 1, arena);
          require_same_kinds(*qrels, {query_kind, std::string(id)}, {doc_kind, std::string(first)}, name_);
        }
        const uint32_t q = qrels->find(id);
        is_judged = q != IdTable::none;
        if (is_judged) segments.push_back({q, b, i, i + 1, number + 1});
        else unjudged.add(id);
      }
      if (!is_judged) check(i + batch.offset);
      last = id;
      follows = true;
    }
  }
  scores.documents = static_cast<uint64_t>(number - of_other_runs);
  Worker worker_of_empty(*qrels, plan);
  std::vector<Row> no_rows;
  for (const std::string& id : without_results) {
    const uint32_t q = qrels->find(id);
    if (q == IdTable::none) {
      unjudged.add(id);
      continue;
    }
    scores.in_run[q] = 1;
    scores.counts[q] = worker_of_empty.measure((*qrels)[q], no_rows, false, scores.values.data() + q * scores.width,
                                               [&](const Row&) { return name_; });
  }
  scores.unjudged_queries = unjudged.size();
  if (unjudged.size()) scores.unjudged_example = unjudged[0];
  std::stable_sort(segments.begin(), segments.end(),
                   [](const Segment& a, const Segment& b) { return a.query < b.query; });

  std::vector<size_t> first;  // segment of each query
  for (size_t i = 0; i < segments.size(); ++i)
    if (i == 0 || segments[i].query != segments[i - 1].query) first.push_back(i);
  constexpr size_t per_task = 64;
  std::vector<BadRows> bad((first.size() + per_task - 1) / per_task);
  in_parallel((first.size() + per_task - 1) / per_task, threads, [&](size_t task) {
    Worker worker(*qrels, plan);
    std::vector<Row> rows;
    Arena texts;
    for (size_t f = task * per_task; f < std::min(first.size(), (task + 1) * per_task); ++f) {
      pause_point();
      rows.clear();
      texts.clear();
      const size_t end = f + 1 < first.size() ? first[f + 1] : segments.size();
      const uint32_t q = segments[first[f]].query;
      const QueryJudgments& judged = (*qrels)[q];
      for (size_t s = first[f]; s < end; ++s) {
        const ArrowArray& batch = batches_[segments[s].batch];
        const Ids docs{*schema_.children[doc], *batch.children[doc], place_of(doc)};
        const Numbers values{*schema_.children[value], *batch.children[value], place_of(value), Table::run};
        for (int64_t i = segments[s].begin; i < segments[s].end; ++i) {
          const int64_t row_number = segments[s].number + i - segments[s].begin;
          try {
            const Bytes id = docs.get(i + batch.offset, row_number, texts);
            const uint64_t hash = hash_bytes(id);
            rows.push_back({hash, id, values.get(i + batch.offset, row_number), judged.find(id, hash)});
          } catch (const Error& e) {
            if (!plan.skip_bad) throw;
            bad[task].add(as_example(e));
          }
        }
      }
      if (rows.empty()) continue;  // all rows are bad: the query counts as missing
      scores.in_run[q] = 1;
      scores.counts[q] =
          worker.measure(judged, rows, true, scores.values.data() + q * scores.width, [&](const Row& row) {
            int64_t place = &row - rows.data();  // index among the rows of all segments
            size_t s = first[f];
            for (; place >= segments[s].end - segments[s].begin; ++s) place -= segments[s].end - segments[s].begin;
            return name_ + ", row " + std::to_string(segments[s].number + place);
          });
    }
  });
  for (const BadRows& some : bad) scores.bad.join(some);
  return complete(std::move(scores), plan, name_);
}

}  // namespace gg
