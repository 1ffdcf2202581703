#include "parquet_format.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "error.hpp"
#include "thrift.hpp"

namespace gg {

namespace {

using Type = ThriftReader::Type;

[[noreturn]] void unreadable(const char* what) {
  bad_input(std::string("this Parquet file needs pyarrow: ") + what, {}, "install it: pip install 'goodgain[arrow]'");
}

void require(bool holds) {
  if (!holds) bad_input("damaged Parquet metadata", {}, "write the file again, or copy it once more");
}

size_t size_from(int64_t value) {
  require(value >= 0);
  return static_cast<size_t>(value);
}

enum Encoding { plain = 0, plain_dictionary = 2, run_lengths = 3, packed_bits = 4, dictionary = 8 };
constexpr size_t most_of_page = 0x7fffffff;       // values, and bytes
constexpr int utf8 = 0, int_8 = 15, int_64 = 18;  // converted types

/// An element of the schema.
struct Element {
  std::string name;
  int64_t type = -1, repetition = 0, children = 0, converted = -1;
  int logical = 0;  // the member of its union
  bool is_signed = true;
};

void read_logical_type(ThriftReader& in, Element& element) {
  in.fields([&](int64_t member, Type) {
    element.logical = static_cast<int>(member);
    if (member != 10) return false;
    in.fields([&](int64_t id, Type type) {  // an integer
      if (id != 2) return false;
      element.is_signed = type == Type::yes;
      return true;
    });
    return true;
  });
}

Element read_element(ThriftReader& in) {
  Element element;
  in.fields([&](int64_t id, Type) {
    switch (id) {
      case 1: element.type = in.integer(); return true;
      case 3: element.repetition = in.integer(); return true;
      case 4: element.name = in.text(); return true;
      case 5: element.children = in.integer(); return true;
      case 6: element.converted = in.integer(); return true;
      case 10: read_logical_type(in, element); return true;
      default: return false;
    }
  });
  return element;
}

/// The schema of Arrow that its libraries put into the metadata: a FlatBuffers table, as base64.
class ArrowSchemaText {
 public:
  explicit ArrowSchemaText(Bytes base64) {
    uint32_t bits = 0;
    int count = 0;
    for (const char c : base64) {
      const char* place = c ? std::strchr(digits, c) : nullptr;
      if (!place) break;
      bits = bits << 6 | static_cast<uint32_t>(place - digits);
      if ((count += 6) >= 8) bytes_.push_back(static_cast<char>(bits >> (count -= 8)));
    }
  }

  /// Whether a column has an extension type: what is stored is not what it means.
  bool has_extensions() const { return bytes_.find("ARROW:extension:name") != std::string::npos; }

  /// Whether a column is a duration, or may be one since the schema cannot be read.
  bool may_have_durations() const {
    try {
      const size_t message = follow(load<uint32_t>(0) == 0xffffffffu ? 8 : 4);
      const size_t schema = follow(field(message, 2));
      const size_t fields = follow(field(schema, 1));
      const size_t count = load<uint32_t>(fields);
      for (size_t i = 0; i < count; ++i) {
        const size_t type = field(follow(fields + 4 + 4 * i), 2);
        if (load<uint8_t>(type) == duration) return true;
      }
      return false;
    } catch (const Error&) {
      return true;
    }
  }

 private:
  static constexpr uint8_t duration = 18;
  static constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  template <class T>
  T load(size_t at) const {
    require(at <= bytes_.size() && sizeof(T) <= bytes_.size() - at);
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof(T));
    return value;
  }
  size_t follow(size_t at) const { return at + load<uint32_t>(at); }
  /// The place of a field of a table, which must have it.
  size_t field(size_t table, size_t number) const {
    const auto back = load<int32_t>(table);
    const auto layout = static_cast<size_t>(static_cast<int64_t>(table) - back);
    require(4 + 2 * number < load<uint16_t>(layout));
    const size_t offset = load<uint16_t>(layout + 4 + 2 * number);
    require(offset > 0);
    return table + offset;
  }

  std::string bytes_;
};

/// `may_be_duration`: 64 bits without annotation may not be a number, which only the schema of Arrow tells.
ParquetColumn::Kind kind_of(const Element& element, bool may_be_duration) {
  using Kind = ParquetColumn::Kind;
  constexpr int string_type = 1, integer_type = 10;
  const bool is_bare = element.logical == 0 && element.converted == -1;
  switch (static_cast<ParquetType>(element.type)) {
    case ParquetType::bytes:
      if (is_bare || element.logical == string_type) return Kind::text;
      return element.logical == 0 && element.converted == utf8 ? Kind::text : Kind::other;
    case ParquetType::int32:
    case ParquetType::int64: {
      const bool is_long = static_cast<ParquetType>(element.type) == ParquetType::int64;
      if (is_bare) return is_long && may_be_duration ? Kind::other : Kind::integer;
      if (element.logical == integer_type) return element.is_signed ? Kind::integer : Kind::other;
      const bool is_plain = element.converted >= int_8 && element.converted <= int_64;
      return element.logical == 0 && is_plain ? Kind::integer : Kind::other;
    }
    case ParquetType::float32:
    case ParquetType::float64: return is_bare ? Kind::number : Kind::other;
    default: return Kind::other;
  }
}

/// The statistics of a chunk: how many values are null, if they tell.
std::optional<int64_t> read_null_count(ThriftReader& in) {
  std::optional<int64_t> nulls;
  in.fields([&](int64_t id, Type type) {
    if (id != 3 || type != Type::i64) return false;
    nulls = in.integer();
    return true;
  });
  return nulls;
}

ParquetChunk read_chunk(ThriftReader& in, uint64_t rows, const PageDecompressors& decompressors) {
  ParquetChunk chunk;
  chunk.is_readable = true;
  bool has_values = false;
  int64_t codec = -1, values = -1, compressed = -1, data = -1, coded = 0;
  std::optional<int64_t> nulls;
  in.fields([&](int64_t id, Type type) {
    if (id == 1 || id == 8 || id == 9) chunk.is_readable = false;  // in another file, or encrypted
    if (id != 3 || type != Type::record) return false;
    has_values = true;
    in.fields([&](int64_t of, Type kind) {
      switch (of) {
        case 2:
          in.elements([&](Type) {
            const int64_t encoding = in.integer();
            // Packed bits are listed for levels that flat columns do not have.
            const bool is_known = encoding == plain || encoding == plain_dictionary || encoding == run_lengths ||
                                  encoding == packed_bits || encoding == dictionary;
            chunk.is_readable &= is_known;
          });
          return true;
        case 4: codec = in.integer(); return true;
        case 5: values = in.integer(); return true;
        case 7: compressed = in.integer(); return true;
        case 9: data = in.integer(); return true;
        case 11: coded = in.integer(); return true;
        case 12:
          if (kind != Type::record) return false;
          nulls = read_null_count(in);
          return true;
        default: return false;
      }
    });
    return true;
  });
  chunk.codec = static_cast<ParquetCodec>(codec);
  const bool has_codec = chunk.codec == ParquetCodec::none || chunk.codec == ParquetCodec::snappy ||
                         (chunk.codec == ParquetCodec::gzip && decompressors.gzip) ||
                         (chunk.codec == ParquetCodec::zstd && decompressors.zstd);
  if (!has_values || values != static_cast<int64_t>(rows) || !has_codec) {
    chunk.is_readable = false;
    return chunk;
  }
  chunk.begin = size_from(coded > 0 && coded < data ? coded : data);
  chunk.end = chunk.begin + size_from(compressed);
  chunk.has_nulls = nulls != 0;
  return chunk;
}

}  // namespace

ParquetFile::ParquetFile(int descriptor, std::string name, PageDecompressors decompressors)
    : file_(descriptor, std::move(name)), decompressors_(std::move(decompressors)) {
  read_footer();
}
ParquetFile::ParquetFile(const std::string& path) : file_(InputFile::open(path)) { read_footer(); }

void ParquetFile::read_footer() {
  constexpr size_t tail = 8;
  const size_t size = file_.size();
  char end[tail];
  require(size >= 4 + tail);
  file_.read(size - tail, size, end);
  uint32_t length;
  std::memcpy(&length, end, 4);
  if (std::memcmp(end + 4, "PAR1", 4) != 0) unreadable("it is encrypted, or damaged");
  require(length <= size - tail - 4);
  std::string metadata(length, '\0');
  file_.read(size - tail - length, size - tail, metadata.data());
  read_metadata(metadata);
}

void ParquetFile::read_metadata(Bytes metadata) {
  std::vector<Element> elements;
  bool may_have_durations = false;
  int64_t rows = -1;
  // The schema comes before the groups, but what else there is may come after.
  size_t groups_at = 0;
  ThriftReader in(metadata);
  in.fields([&](int64_t id, Type type) {
    if (id == 2 && type == Type::list) {
      in.elements([&](Type) { elements.push_back(read_element(in)); });
      return true;
    }
    if (id == 3) {
      rows = in.integer();
      return true;
    }
    if (id == 4) groups_at = in.position();
    if (id == 5 && type == Type::list) {
      in.elements([&](Type) {
        bool is_schema = false;
        in.fields([&](int64_t of, Type) {
          if (of == 1) return is_schema = in.text() == "ARROW:schema", true;
          if (of != 2 || !is_schema) return false;
          const ArrowSchemaText schema(in.text());
          if (schema.has_extensions()) unreadable("it has extension types");
          may_have_durations |= schema.may_have_durations();
          return true;
        });
      });
      return true;
    }
    if (id == 8) unreadable("it is encrypted");
    return false;
  });
  require(!elements.empty() && rows >= 0 && groups_at > 0);
  rows_ = static_cast<uint64_t>(rows);
  if (elements[0].children != static_cast<int64_t>(elements.size()) - 1) unreadable("it has nested columns");
  std::set<std::string> names;
  for (size_t i = 1; i < elements.size(); ++i) {
    const Element& element = elements[i];
    if (element.children != 0 || element.repetition > 1 || element.repetition < 0) unreadable("it has nested columns");
    require(element.type >= 0 && element.type <= static_cast<int64_t>(ParquetType::fixed));
    if (!names.insert(element.name).second) unreadable("two columns have the same name");
    columns_.push_back({element.name, static_cast<ParquetType>(element.type), kind_of(element, may_have_durations),
                        element.repetition == 1});
  }
  ThriftReader at_groups(metadata.substr(groups_at));
  uint64_t counted = 0;
  at_groups.elements([&](Type) {
    ParquetGroup group;
    std::vector<size_t> places;  // of the chunks: how many rows they have comes later
    at_groups.fields([&](int64_t id, Type type) {
      if (id == 3) {
        group.rows = size_from(at_groups.integer());
        return true;
      }
      if (id == 1 && type == Type::list) places.push_back(groups_at + at_groups.position());
      return false;
    });
    require(places.size() == 1);
    ThriftReader chunks(metadata.substr(places[0]));
    chunks.elements([&](Type) {
      const ParquetChunk chunk = read_chunk(chunks, group.rows, decompressors_);
      require(!chunk.is_readable || (chunk.begin <= chunk.end && chunk.end <= file_.size()));
      group.chunks.push_back(chunk);
    });
    require(group.chunks.size() == columns_.size() && group.rows <= rows_ - counted);
    counted += group.rows;
    groups_.push_back(std::move(group));
  });
  require(counted == rows_);
}

size_t ParquetFile::find(const std::string& column) const {
  for (size_t c = 0; c < columns_.size(); ++c)
    if (columns_[c].name == column) return c;
  return none;
}

ParquetPage read_page_header(Bytes bytes) {
  ThriftReader in(bytes);
  ParquetPage page;
  int64_t type = -1, encoding = plain, levels = run_lengths, repetitions = 0;
  const auto of_page = [&](int64_t values, int64_t encoding_at, int64_t levels_at, bool is_second) {
    in.fields([&, values, encoding_at, levels_at, is_second](int64_t id, Type kind) {
      if (id == values) return page.values = size_from(in.integer()), true;
      if (id == encoding_at) return encoding = in.integer(), true;
      if (id == levels_at && !is_second) return levels = in.integer(), true;
      if (!is_second) return false;
      if (id == 5) return page.levels = size_from(in.integer()), true;
      if (id == 6) return repetitions = in.integer(), true;
      if (id == 7) return page.is_compressed = kind == Type::yes, true;
      return false;
    });
    return true;
  };
  in.fields([&](int64_t id, Type kind) {
    if (id == 1) return type = in.integer(), true;
    if (id == 2) return page.size = size_from(in.integer()), true;
    if (id == 3) return page.compressed = size_from(in.integer()), true;
    if (kind != Type::record) return false;
    if (id == 5) return of_page(1, 2, 3, false);
    if (id == 7) return of_page(1, 2, -1, false);
    if (id == 8) return page.is_second_version = true, of_page(1, 4, -1, true);
    return false;
  });
  page.header = in.position();
  if (type == 0 || type == 3) page.kind = ParquetPage::Kind::data;
  if (type == 2) page.kind = ParquetPage::Kind::dictionary;
  require((type == 3) == page.is_second_version || page.kind == ParquetPage::Kind::other);
  if (page.kind == ParquetPage::Kind::other) return page;
  page.has_dictionary = encoding == dictionary || encoding == plain_dictionary;
  page.has_run_lengths = levels == run_lengths;
  if ((!page.has_dictionary && encoding != plain) || repetitions != 0)
    unreadable("its values are encoded in another way");
  require(page.values <= most_of_page && page.size <= most_of_page);
  require(page.levels <= page.size && page.levels <= page.compressed);
  return page;
}

}  // namespace gg
