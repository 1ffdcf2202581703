// What Parquet files say about themselves: columns, row groups, pages.
//
// Read here is what most tables of rows look like: flat columns of texts, integers and floats, plain or with a
// dictionary, uncompressed or in Snappy; gzip and Zstandard where a library of the host decompresses them. Anything
// else is an error, and the caller leaves the file to pyarrow.
#pragma once
#include <cstdint>
#include <functional>
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

/// How pages are compressed, as Parquet numbers it.
enum class ParquetCodec { none = 0, snappy = 1, gzip = 2, zstd = 6 };

/// Decompresses a page that has `size` bytes then; false if it is damaged. Any thread may call it.
using PageDecompressor = std::function<bool(Bytes compressed, char* to, size_t size)>;
/// Where a member is empty, its pages are left to pyarrow.
struct PageDecompressors {
  PageDecompressor gzip, zstd;
};

/// The values of one column in one row group.
struct ParquetChunk {
  size_t begin = 0, end = 0;  // in the file
  ParquetCodec codec = ParquetCodec::none;
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
  /// Takes ownership of the descriptor.
  ParquetFile(int descriptor, std::string name, PageDecompressors decompressors = {});
  explicit ParquetFile(const std::string& path);

  const InputFile& file() const { return file_; }
  const std::vector<ParquetColumn>& columns() const { return columns_; }
  const std::vector<ParquetGroup>& groups() const { return groups_; }
  const PageDecompressors& decompressors() const { return decompressors_; }
  uint64_t rows() const { return rows_; }
  /// The place of a column in `columns`, or `none`.
  static constexpr size_t none = ~size_t{0};
  size_t find(const std::string& column) const;

 private:
  void read_footer();
  void read_metadata(Bytes metadata);

  InputFile file_;
  PageDecompressors decompressors_;
  std::vector<ParquetColumn> columns_;
  std::vector<ParquetGroup> groups_;
  uint64_t rows_ = 0;
};

}  // namespace gg
