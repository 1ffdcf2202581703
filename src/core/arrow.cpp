#include "arrow.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "arrow_cells.hpp"
#include "error.hpp"

namespace gg {

namespace {

/// The name of a column; the interface allows none at all.
std::string name_of(const ArrowSchema* schema) { return schema->name ? schema->name : ""; }

/// Whether a batch, which is a struct, lacks whole rows: their columns may still hold values, which do not count.
bool has_nulls(const ArrowArray& batch) {
  // The length may be a lie, and a long one.
  if (batch.null_count == 0 || batch.n_buffers == 0 || !batch.buffers[0]) return false;
  for (int64_t row = 0; row < batch.length; ++row)
    if (!valid(batch, row)) return true;
  return false;
}

/// Refuses what would be read outside its buffers. Sizes of buffers are not part of the C interface: whoever makes
/// the data answers for them, and files are validated before they come here.
void check_array(const ArrowSchema& schema, const ArrowArray& array, const std::string& place) {
  const auto damaged = [&](const char* what) {
    bad_input(std::string("damaged Arrow data: ") + what, place, damaged_arrow_hint);
  };
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

/// The type of a column for people: formats of the C interface are letters.
std::string type_name(const std::string& format) {
  struct Name {
    const char* start;
    const char* name;
  };
  constexpr Name names[] = {
      {"n", "null"},       {"b", "boolean"},   {"e", "float16"},
      {"f", "float32"},    {"g", "float64"},   {"u", "text"},
      {"U", "text"},       {"vu", "text"},     {"z", "binary"},
      {"Z", "binary"},     {"vz", "binary"},   {"w:", "fixed-size binary"},
      {"d:", "decimal"},   {"td", "date"},     {"tt", "time"},
      {"ts", "timestamp"}, {"tD", "duration"}, {"ti", "interval"},
      {"+l", "list"},      {"+L", "list"},     {"+vl", "list"},
      {"+vL", "list"},     {"+w", "list"},     {"+s", "struct"},
      {"+m", "map"},       {"+u", "union"},    {"+r", "run-end encoded"},
  };
  for (const Name& each : names)
    if (format.starts_with(each.start)) return each.name;
  return "'" + format + "'";
}

/// The name of an extension type, or nothing. Metadata are pairs of texts, with their sizes before them.
std::string extension_of(const ArrowSchema& schema) {
  const char* at = schema.metadata;
  if (!at) return {};
  const auto number = [&at] {
    int32_t value;
    std::memcpy(&value, at, 4);
    at += 4;
    return value;
  };
  const auto text = [&] {
    const auto size = static_cast<size_t>(std::max(number(), 0));
    const char* begin = at;
    at += size;
    return std::string_view(begin, size);
  };
  for (int32_t pairs = number(); pairs > 0; --pairs) {
    const std::string_view key = text(), value = text();
    if (key == "ARROW:extension:name") return std::string(value);
  }
  return {};
}

/// Refuses a column whose cells do not mean what is stored, such as the days of a period as integers.
void refuse_extension(const ArrowSchema& schema, const std::string& what, const std::string& place,
                      const char* instead) {
  std::string name = extension_of(schema);
  if (name.empty() && schema.dictionary) name = extension_of(*schema.dictionary);
  if (name.empty() || name == "arrow.bool8") return;
  bad_input(what, place, "its Arrow type is the extension " + in_quotes(name) + ": cast it to " + instead);
}

void refuse_nested(const ArrowSchema& values, const std::string& place) {
  if (values.dictionary) bad_input("dictionaries of dictionaries are not supported", place, "decode the column once");
}

}  // namespace

ArrowTable::ArrowTable(ArrowArrayStream& stream, std::string name) : name_(std::move(name)) {
  const auto check = [&](int status) {
    if (status == 0) return;
    const char* why = stream.get_last_error(&stream);
    bad_input("cannot read the data: " + std::string(why ? why : "unknown error"), name_,
              "the program that provides the data failed; is its source still there?");
  };
  try {
    check(stream.get_schema(&stream, &schema_));
    while (true) {
      pause_point();
      ArrowArray& batch = batches_.emplace_back();  // before there is a batch that would be lost without memory
      check(stream.get_next(&stream, &batch));
      if (!batch.release) {
        batches_.pop_back();
        break;
      }
      if (batch.n_children != schema_.n_children)
        bad_input("damaged Arrow data: columns are missing", name_, damaged_arrow_hint);
      if (has_nulls(batch))
        bad_input("rows of the table are missing: a whole row is null", name_, "leave such rows out");
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
      if (batch.length < 0 || batch.offset < 0 || array.length < 0 || array.length - batch.offset < batch.length)
        bad_input("damaged Arrow data: a column is shorter than its batch", place_of(c), damaged_arrow_hint);
      check_array(*schema_.children[c], array, place_of(c));
    }
}

void ArrowTable::check() const {
  for (size_t c = 0; c < static_cast<size_t>(schema_.n_children); ++c)
    if (const char* f = values_of(*schema_.children[c]).format; is_text_format(f) || is_number_format(f))
      check_columns({c});
}

std::vector<std::string> ArrowTable::column_names() const {
  std::vector<std::string> names;
  for (int64_t c = 0; c < schema_.n_children; ++c) names.push_back(name_of(schema_.children[c]));
  return names;
}

std::string ArrowTable::place_of(size_t c) const {
  return "column " + in_quotes(name_of(schema_.children[c])) + " of " + name_;
}

size_t ArrowTable::column(const std::string& name) const {
  for (int64_t c = 0; c < schema_.n_children; ++c)
    if (name == name_of(schema_.children[c])) return static_cast<size_t>(c);
  std::string available;
  for (const std::string& column : column_names())
    available += (available.empty() ? "available columns: " : ", ") + column;
  bad_input("column " + in_quotes(name) + " not found", name_, available);
}

/// The kind of an id column, which must hold text or integers.
IdKind ArrowTable::kind(size_t c) const {
  const ArrowSchema* schema = &values_of(*schema_.children[c]);
  const std::string what = "id column " + in_quotes(name_of(schema_.children[c])) + " must hold text or integers";
  const char* instead = "text, or to integers";
  refuse_nested(*schema, place_of(c));
  if (is_utf8_format(schema->format)) return IdKind::text;  // whatever it means, it is its text
  refuse_extension(*schema_.children[c], what, name_, instead);
  if (is_text_format(schema->format)) return IdKind::text;
  if (is_integer_format(schema->format)) return IdKind::integer;
  if (const auto decimal = decimal_format(schema->format); decimal && decimal->scale == 0) return IdKind::integer;
  bad_input(what, name_, "its Arrow type is " + type_name(schema->format) + ": cast it to " + instead);
}

void ArrowTable::require_numbers(size_t c) const {
  const ArrowSchema* schema = schema_.children[c];
  const char* format = values_of(*schema).format;
  refuse_nested(values_of(*schema), place_of(c));
  const std::string what = "column " + in_quotes(name_of(schema_.children[c])) + " must hold numbers";
  if (is_number_format(format)) return refuse_extension(*schema, what, name_, "numbers");
  bad_input(what, name_, "its Arrow type is " + type_name(format) + ": cast it to numbers");
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
    const auto ids = [&](size_t c) { return ArrowIds{*schema_.children[c], *batch.children[c], place_of(c)}; };
    const ArrowIds queries = ids(query), docs = ids(doc), targets = ids(target), aspects = ids(aspect), runs = ids(run);
    const ArrowNumbers values{*schema_.children[value], *batch.children[value], place_of(value), table};
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
        const auto id = [&](const ArrowIds& of) {
          const int64_t place =
              of.array.dictionary && valid(of.array, r) ? *integer_at(of.schema.format[0], of.array, r) : 0;
          const bool has_value = valid(of.array, r) && (!of.array.dictionary || valid(*of.array.dictionary, place));
          return has_value ? in_quotes(of.get(r, number, arena)) : "none";
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
  if (kind(text) != IdKind::text)
    bad_input("column " + in_quotes(name) + " must hold text", name_, "convert it: cast it to string");
  check_columns({text});
  Arena arena;  // stays empty: texts are bytes already
  for (const ArrowArray& batch : batches_) {
    const ArrowIds texts{*schema_.children[text], *batch.children[text], name_};
    for (int64_t i = batch.offset; i < batch.offset + batch.length; ++i)
      if (valid(*batch.children[text], i)) use(texts.get(i, i, arena));
  }
}

void ArrowTable::for_each_piece(const std::function<void(Bytes, int64_t, int64_t, Bytes)>& use) const {
  const size_t query = column("query"), kind = column("kind"), place = column("place"), piece = column("piece");
  for (const size_t c : {query, piece})
    if (this->kind(c) != IdKind::text) bad_input(place_of(c) + " must hold text", {}, "convert it: cast it to string");
  for (const size_t c : {kind, place})
    if (!is_integer_format(schema_.children[c]->format))
      bad_input(place_of(c) + " must hold integers", {}, "convert it: cast it to int64");
  check_columns({query, kind, place, piece});
  Arena arena;  // stays empty: both columns are bytes already
  int64_t number = 0;
  for (const ArrowArray& batch : batches_) {
    const auto ids = [&](size_t c) { return ArrowIds{*schema_.children[c], *batch.children[c], name_}; };
    const auto whole = [&](size_t c, int64_t row) {
      return *integer_at(schema_.children[c]->format[0], *batch.children[c], row);
    };
    const ArrowIds queries = ids(query), pieces = ids(piece);
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
  if (builder.empty()) bad_input("the table contains no judgments", name_, "was it written completely, or filtered?");
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
    const ArrowIds ids{*schema_.children[c], *batch.children[c], place_of(c)};
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
                                        const std::string& only, LeftOut& left_out) const {
  const size_t query = column(query_name), run = run_name.empty() ? query : column(run_name);
  kind(query), kind(run);
  check_columns({query, run});
  std::vector<uint8_t> bits;
  size_t place = 0;
  Arena arena;
  std::string last;
  bool follows = false, is_judged = false;
  for (const ArrowArray& batch : batches_) {
    const ArrowIds queries{*schema_.children[query], *batch.children[query], place_of(query)};
    const ArrowIds runs{*schema_.children[run], *batch.children[run], place_of(run)};
    bits.resize((place + static_cast<size_t>(batch.length) + 7) / 8);
    for (int64_t r = batch.offset; r < batch.offset + batch.length; ++r, ++place) {
      arena.clear();
      const auto number = static_cast<int64_t>(place) + 1;
      if (!run_name.empty() && runs.get(r, number, arena) != only) continue;
      const Bytes id = queries.get(r, number, arena);
      if (!follows || id != last) {
        is_judged = qrels.find(id) != IdTable::none;
        if (!is_judged) left_out.queries.add(id);
        last = id;
        follows = true;
      }
      if (!is_judged) ++left_out.rows;
      else bits[place / 8] |= static_cast<uint8_t>(1 << place % 8);
    }
  }
  return bits;
}

}  // namespace gg
