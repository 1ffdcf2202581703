// What Parquet files say about themselves: columns, row groups, pages.
//
// Read here is what most tables of rows look like: flat columns of texts, integers and floats, plain or with a
// dictionary, uncompressed or in Snappy. Anything else is an error, and the caller leaves the file to pyarrow.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "file.hpp"

namespace gg {

enum class ParquetType { boolean, int32, int64, int96, float32, float64, bytes, fixed };

struct ParquetColumn {
  enum class Kind { text, integer, number, other };  // other: only pyarrow reads it
  std::string name;
  ParquetType type = ParquetType::boolean;
  Kind kind = Kind::other;
  bool optional = false;
};

/// The values of one column in one row group.
struct ParquetChunk {
  size_t begin = 0, end = 0;  // in the file
  bool is_snappy = false;
  bool is_readable = false;
  bool has_nulls = true;  // or may have some
};

struct ParquetGroup {
  uint64_t rows = 0;
  std::vector<ParquetChunk> chunks;  // one for each column
};

struct ParquetPage {
  enum class Kind { data, dictionary, other };
  Kind kind = Kind::other;
  bool is_second_version = false;
  size_t header = 0, compressed = 0, size = 0;  // bytes
  uint64_t values = 0;                          // nulls included
  bool has_dictionary = false;                  // its values are places in the dictionary
  bool is_compressed = true;
  bool has_run_lengths = true;  // what tells nulls, in the first version
  size_t levels = 0;            // bytes that tell nulls, in the second version
};

/// The header of a page at the beginning of these bytes.
ParquetPage read_page_header(Bytes bytes);

/// A file and its metadata.
class ParquetFile {
 public:
  ParquetFile(int descriptor, std::string name);  // takes ownership of the descriptor
  explicit ParquetFile(const std::string& path);

  const InputFile& file() const { return file_; }
  const std::vector<ParquetColumn>& columns() const { return columns_; }
  const std::vector<ParquetGroup>& groups() const { return groups_; }
  uint64_t rows() const { return rows_; }
  /// The place of a column in `columns`, or `none`.
  static constexpr size_t none = ~size_t{0};
  size_t find(const std::string& column) const;

 private:
  void read_footer();
  void read_metadata(Bytes metadata);

  InputFile file_;
  std::vector<ParquetColumn> columns_;
  std::vector<ParquetGroup> groups_;
  uint64_t rows_ = 0;
};

}  // namespace gg
