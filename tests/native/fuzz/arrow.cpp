// Arrow tables as another library hands them over. Buffers are as large as their contents say and no larger: sizes are
// not part of the C interface, so a producer answers for them; everything else in an input may be damaged.
#include "arrow_run.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "error.hpp"
#include "targets.hpp"

namespace gg::fuzz {

namespace {

/// Takes an input apart; zeros after its end.
class Draw {
 public:
  explicit Draw(Bytes bytes) : rest_(bytes) {}
  bool is_empty() const { return rest_.empty(); }
  template <class T>
  T number() {
    T value{};
    const size_t n = std::min(sizeof value, rest_.size());
    std::memcpy(&value, rest_.data(), n);
    rest_.remove_prefix(n);
    return value;
  }
  size_t below(size_t limit) { return number<uint8_t>() % limit; }
  bool one_in(size_t n) { return below(n) == n - 1; }

 private:
  Bytes rest_;
};

constexpr const char* id_formats[] = {"u", "U", "vu", "z", "Z", "vz", "l", "i", "s", "c", "L", "I", "S", "C", "d:20,0"};
constexpr const char* number_formats[] = {"g",          "f",         "e",           "l",        "i",         "b",
                                          "L",          "c",         "d:10,2",      "d:9,1,32", "d:15,3,64", "d:38,9",
                                          "d:40,5,256", "d:5,-3,64", "d:38,20,128", "S"};
constexpr const char* other_formats[] = {"n", "+s", "tdD", "w:3", "", "d:", "d:9", "uu", "d:1,2,7", "ttm"};

/// The memory behind a schema and its arrays, released as the interface prescribes.
struct Owned {
  std::vector<std::unique_ptr<char[]>> buffers;
  std::vector<const void*> pointers;
  std::vector<ArrowArray*> children;
  ArrowArray dictionary{};

  ~Owned() {
    for (ArrowArray* child : children) {
      if (child->release) child->release(child);
      delete child;
    }
    if (dictionary.release) dictionary.release(&dictionary);
  }
  char* buffer(size_t size) {
    buffers.push_back(std::make_unique<char[]>(size));
    pointers.push_back(buffers.back().get());
    return buffers.back().get();
  }
};

void hand_over(ArrowArray& array, std::unique_ptr<Owned> owned) {
  array.n_buffers = static_cast<int64_t>(owned->pointers.size());
  array.buffers = owned->pointers.data();
  array.n_children = static_cast<int64_t>(owned->children.size());
  array.children = owned->children.data();
  array.release = [](ArrowArray* of) {
    delete static_cast<Owned*>(of->private_data);
    of->release = nullptr;
  };
  array.private_data = owned.release();
}

struct Column {
  std::string format, name;
  bool has_name = true, is_dictionary = false, is_nested = false;
  std::string values;  // the format of the dictionary
};

size_t width_of(Bytes format) {
  if (format.starts_with("d:")) {
    return format.ends_with(",32") ? 4 : format.ends_with(",64") ? 8 : format.ends_with(",256") ? 32 : 16;
  }
  switch (format.empty() ? ' ' : format[0]) {
    case 'c':
    case 'C': return 1;
    case 's':
    case 'S':
    case 'e': return 2;
    case 'i':
    case 'I':
    case 'f': return 4;
    default: return 8;
  }
}

template <class Offset>
void put_texts(Owned& owned, Draw& draw, size_t count) {
  char* offsets = owned.buffer((count + 1) * sizeof(Offset));
  Offset at = 0;
  for (size_t i = 0; i <= count; ++i) {
    std::memcpy(offsets + i * sizeof at, &at, sizeof at);
    at = static_cast<Offset>(at + static_cast<Offset>(draw.below(4)));
    if (draw.one_in(200)) at = static_cast<Offset>(draw.number<int8_t>());
  }
  Offset last;
  std::memcpy(&last, offsets + count * sizeof last, sizeof last);
  const size_t size = static_cast<size_t>(std::max<Offset>(last, 0));
  char* text = owned.buffer(size);
  for (size_t i = 0; i < size; ++i) text[i] = draw.one_in(8) ? draw.number<char>() : "abcdqr12"[draw.below(8)];
}

void put_views(Owned& owned, Draw& draw, size_t count) {
  constexpr int64_t data_size = 40;
  char* views = owned.buffer(16 * count);
  for (size_t i = 0; i < count; ++i) {
    const int32_t length = draw.one_in(16) ? draw.number<int32_t>() : static_cast<int32_t>(draw.below(16));
    const int32_t buffer = draw.one_in(16) ? draw.number<int8_t>() : 0;
    const int32_t offset = draw.one_in(16) ? draw.number<int32_t>() : static_cast<int32_t>(draw.below(24));
    std::memcpy(views + 16 * i, &length, 4);
    if (length <= 12) {
      for (size_t k = 4; k < 16; ++k) views[16 * i + k] = "abcdqr12"[draw.below(8)];
    } else {
      std::memcpy(views + 16 * i + 8, &buffer, 4);
      std::memcpy(views + 16 * i + 12, &offset, 4);
    }
  }
  char* data = owned.buffer(data_size);
  for (size_t i = 0; i < static_cast<size_t>(data_size); ++i) data[i] = "abcdqr12"[draw.below(8)];
  std::memcpy(owned.buffer(sizeof data_size), &data_size, sizeof data_size);
}

void put_array(ArrowArray& array, const Column& column, Draw& draw, size_t length) {
  auto owned = std::make_unique<Owned>();
  const size_t offset = draw.one_in(4) ? draw.below(9) : 0, count = length + offset;
  array.length = static_cast<int64_t>(length);
  array.offset = static_cast<int64_t>(offset);
  if (draw.one_in(3)) {
    char* bits = owned->buffer((count + 7) / 8);
    for (size_t i = 0; i < (count + 7) / 8; ++i) bits[i] = draw.one_in(2) ? draw.number<char>() : '\xff';
    array.null_count = -1;
  } else {
    owned->pointers.push_back(nullptr);
  }
  const Bytes format = column.format;
  if (format == "u" || format == "z") {
    put_texts<int32_t>(*owned, draw, count);
  } else if (format == "U" || format == "Z") {
    put_texts<int64_t>(*owned, draw, count);
  } else if (format == "vu" || format == "vz") {
    put_views(*owned, draw, count);
  } else if (format == "b") {
    char* bits = owned->buffer((count + 7) / 8);
    for (size_t i = 0; i < (count + 7) / 8; ++i) bits[i] = draw.number<char>();
  } else {
    const size_t width = width_of(format);
    char* numbers = owned->buffer(count * width);
    const bool is_small = column.is_dictionary || draw.one_in(2);
    for (size_t i = 0; i < count; ++i) {
      if (is_small && !draw.one_in(32)) {
        numbers[i * width] = static_cast<char>(draw.below(4));
        if (format == "g" || format == "f") numbers[i * width + width - 1] = static_cast<char>(draw.below(65));
      } else {
        for (size_t k = 0; k < width; ++k) numbers[i * width + k] = draw.number<char>();
      }
    }
  }
  if (column.is_dictionary && !draw.one_in(32)) {
    Column inner{.format = column.values, .name = {}};
    if (column.is_nested) inner = {.format = "c", .name = {}, .is_dictionary = true, .values = column.values};
    put_array(owned->dictionary, inner, draw, 1 + draw.below(4));
    array.dictionary = &owned->dictionary;
  }
  if (draw.one_in(64)) owned->pointers.resize(draw.below(owned->pointers.size() + 1));
  if (draw.one_in(64) && owned->pointers.size() > 1) owned->pointers[1] = nullptr;
  if (draw.one_in(128)) array.length = draw.number<int64_t>() | std::numeric_limits<int64_t>::min();
  if (draw.one_in(128)) array.offset = -array.offset - 1;
  hand_over(array, std::move(owned));
}

/// A batch that is released with what holds it, also where its making fails midway.
struct Batch {
  ArrowArray array{};

  Batch() = default;
  Batch(Batch&& other) noexcept : array(std::exchange(other.array, {})) {}
  Batch& operator=(Batch&&) = delete;
  ~Batch() {
    if (array.release) array.release(&array);
  }
};

/// A table as an input describes it: a schema, and batches until a stream ends or fails.
class Stream {
 public:
  explicit Stream(Draw& draw) {
    const size_t width = 3 + draw.below(4);
    for (size_t c = 0; c < width; ++c) columns_.push_back(draw_column(draw, c));
    fails_ = draw.one_in(16);
    for (size_t batches = draw.below(4); batches-- > 0 && !draw.is_empty();) {
      batches_.emplace_back();
      put_batch(batches_.back().array, draw);
    }
    fill_schema();
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  ArrowTable table() {
    ArrowArrayStream stream{};
    stream.private_data = this;
    stream.get_schema = [](ArrowArrayStream* of, ArrowSchema* schema) {
      *schema = static_cast<Stream*>(of->private_data)->schema_;
      schema->release = [](ArrowSchema* done) { done->release = nullptr; };
      return 0;
    };
    stream.get_next = [](ArrowArrayStream* of, ArrowArray* array) {
      Stream& self = *static_cast<Stream*>(of->private_data);
      if (self.next_ == self.batches_.size()) return self.fails_ ? 5 : 0;
      *array = std::exchange(self.batches_[self.next_++].array, {});
      return 0;
    };
    stream.get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
    return ArrowTable(stream, "fuzz");
  }
  bool has(const char* name) const {
    return std::any_of(columns_.begin(), columns_.end(), [&](const Column& c) { return c.name == name; });
  }

 private:
  static Column draw_column(Draw& draw, size_t place) {
    static constexpr const char* names[] = {"query", "doc", "score", "target", "aspect", "run"};
    Column column;
    column.name = names[draw.one_in(24) ? draw.below(6) : std::min<size_t>(place, 5)];
    column.has_name = !draw.one_in(40);
    const bool is_number = place == 2;
    column.format = is_number ? number_formats[draw.below(std::size(number_formats))]
                              : id_formats[draw.below(std::size(id_formats))];
    if (draw.one_in(32)) column.format = other_formats[draw.below(std::size(other_formats))];
    if (draw.one_in(4)) {
      column.is_dictionary = true;
      column.is_nested = draw.one_in(16);
      column.values = std::exchange(column.format, std::string(1, "cCsSiIlLug"[draw.below(draw.one_in(16) ? 10 : 8)]));
    }
    return column;
  }

  void put_batch(ArrowArray& batch, Draw& draw) {
    auto owned = std::make_unique<Owned>();
    owned->pointers.push_back(nullptr);
    const size_t rows = draw.below(12), offset = draw.one_in(8) ? draw.below(4) : 0;
    const size_t width = draw.one_in(64) ? columns_.size() - 1 : columns_.size();
    for (size_t c = 0; c < width; ++c) {
      owned->children.reserve(width);
      owned->children.push_back(new ArrowArray{});
      put_array(*owned->children.back(), columns_[c], draw, rows + offset - (draw.one_in(64) && rows ? 1 : 0));
    }
    batch.length = static_cast<int64_t>(rows);
    batch.offset = static_cast<int64_t>(offset);
    if (draw.one_in(128)) batch.length = draw.number<int64_t>();
    if (draw.one_in(128)) batch.offset = draw.number<int64_t>();
    hand_over(batch, std::move(owned));
  }

  void fill_schema() {
    for (const Column& column : columns_) {
      ArrowSchema& child = schemas_.emplace_back();
      child.format = column.format.c_str();
      child.name = column.has_name ? column.name.c_str() : nullptr;
      if (column.is_dictionary) {
        ArrowSchema& values = schemas_.emplace_back();
        values.format = column.values.c_str();
        child.dictionary = &values;
        if (column.is_nested) {
          ArrowSchema& inner = schemas_.emplace_back();
          inner.format = column.values.c_str();
          values.format = "c";
          values.dictionary = &inner;
        }
      }
      children_.push_back(&child);
    }
    schema_.format = "+s";
    schema_.name = "";
    schema_.n_children = static_cast<int64_t>(children_.size());
    schema_.children = children_.data();
  }

  std::vector<Column> columns_;
  std::deque<ArrowSchema> schemas_;
  std::vector<ArrowSchema*> children_;
  ArrowSchema schema_{};
  std::deque<Batch> batches_;
  size_t next_ = 0;
  bool fails_ = false;
};

/// Rows of a table as CSV; empty where text cannot hold them.
std::string as_text(const ArrowTable& table, const ColumnNames& names, bool skip_bad, uint64_t& bad_rows) {
  std::string csv;
  bool can_be_text = true;
  BadRows bad;
  const auto cell = [&](Bytes id) {
    can_be_text &= !id.empty() && std::none_of(id.begin(), id.end(), [](char c) { return c >= 0 && c < ' '; });
    csv += '"';
    for (const char c : id) csv.append(c == '"' ? 2 : 1, c);
    csv += "\",";
  };
  table.for_each(
      names, Table::run,
      [&](const Line& line, uint64_t) {
        cell(line.query);
        cell(line.doc);
        char digits[40];
        csv.append(digits, std::to_chars(digits, digits + sizeof digits, line.value).ptr);
        csv += '\n';
      },
      skip_bad ? &bad : nullptr);
  bad_rows = bad.count;
  return can_be_text ? csv : std::string();
}

/// A run is the same as Arrow and as text.
void compare_run(const ArrowTable& table, const ColumnNames& names, bool skip_bad, Bytes input) {
  Plan plan = some_plan();
  plan.skip_bad = skip_bad;
  plan.may_be_disjoint = true;
  std::string of_table, csv, refused;
  uint64_t bad_rows = 0;
  try {
    const Scores scores = evaluate_arrow(some_judgments(), table, names, plan, {is_one_of(input, 16) ? 2u : 1u});
    bad_rows = scores.bad.count;
    of_table = bytes_of(scores);
  } catch (const Error& e) {
    refused = e.what() + e.where;
  }
  uint64_t bad_lines = 0;
  try {
    csv = as_text(table, names, skip_bad, bad_lines);
  } catch (const Error&) {
    if (!of_table.empty()) differ("bad rows", input);
    return;
  }
  if (csv.empty()) return;
  if (of_table.empty()) differ(refused.c_str(), input);
  LineFormat format;
  format.kind = LineFormat::Kind::delimited;
  format.quotes = true;
  format.columns = {0, 1, 2, Columns::none, Columns::none, 3, Columns::none, {}};
  const Scores scores = evaluate_text(some_judgments(), in_pieces(csv, csv.size(), format), format, plan, {1});
  if (bytes_of(scores) != of_table || scores.bad.count + bad_lines != bad_rows) differ("a table and its text", input);
}

template <class Call>
void attempt(const Call& call) {
  try {
    call();
  } catch (const Error&) {
  }
}

}  // namespace

void arrow(Bytes bytes) {
  Draw draw(bytes);
  const bool skip_bad = draw.one_in(2);
  Stream stream(draw);
  attempt([&] {
    const ArrowTable table = stream.table();
    const ColumnNames plain{"query", "doc", "score", {}, {}, {}, {}, {}};
    ColumnNames full = plain;
    if (stream.has("target")) full.target = "target";
    if (stream.has("aspect")) full.aspect = "aspect";
    attempt([&] { compare_run(table, plain, skip_bad, bytes); });
    attempt([&] { table.check(); });
    attempt([&] { table.qrels(full); });
    for (const char* name : {"query", "doc", "run"}) {
      attempt([&] { table.distinct(name); });
      attempt([&] { table.for_each_text(name, [](Bytes) {}); });
    }
    if (stream.has("run")) {
      full.run = "run";
      full.only = "a";
      LeftOut left_out;
      attempt([&] { table.judged(*some_judgments(), "query", "run", "a", left_out); });
      attempt([&] { evaluate_arrow(some_judgments(), table, full, some_plan(), {1}); });
    }
  });
}

}  // namespace gg::fuzz
