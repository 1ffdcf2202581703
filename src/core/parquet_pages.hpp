// The values of a column in one row group of a Parquet file, from any row on.
#pragma once
#include <memory>
#include <vector>

#include "parquet_format.hpp"

namespace gg {

/// Bytes with some zeros after their end, so that loads may run past it.
class PageBuffer {
 public:
  static constexpr size_t padding = 64;
  /// Room for `size` bytes.
  char* room(size_t size);
  Bytes bytes() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<char[]> data_;
  size_t size_ = 0, capacity_ = 0;
};

/// Small integers as run lengths and packed bits, in turns.
class HybridReader {
 public:
  HybridReader() = default;
  /// `bytes` are followed by PageBuffer::padding.
  HybridReader(Bytes bytes, unsigned width);
  /// The next integers; too few are an error.
  void read(uint32_t* to, size_t count);
  /// Passes over so many ones, if that is what a run has; otherwise nothing is done.
  bool skip_ones(size_t count);

 private:
  void next_run();

  const char *p_ = nullptr, *end_ = nullptr;
  unsigned width_ = 0;
  uint64_t repeats_ = 0, packed_ = 0;  // what is left of the run
  uint32_t value_ = 0;                 // of repeats
  const char* bits_ = nullptr;         // of packed integers
  uint64_t bit_ = 0;
};

/// Reads a column from row to row. Texts point into pages that stay until `forget`; numbers need none.
class ParquetReader {
 public:
  ParquetReader(const ParquetFile& file, size_t group, size_t column);

  /// The values of the next rows; a null text has no data, a null number is NaN.
  void read(Bytes* to, size_t rows);
  void read(double* to, size_t rows);
  /// Integers; `valid` tells which are there.
  void read(int64_t* to, uint8_t* valid, size_t rows);
  /// Passes over rows, without decompressing pages of which no row is needed.
  void skip(size_t rows) { skipped_ += rows; }
  /// Gives pages back of which no text is used any more.
  void forget();

 private:
  template <class T>
  void read_values(T* to, uint8_t* valid, size_t rows);
  template <class T>
  void read_present(T* to, size_t count);
  template <class T>
  void read_plain(T* to, size_t count);
  template <class T>
  const std::vector<T>& dictionary() const;
  void catch_up();
  /// The next page with rows; decompressed unless all its rows are skipped.
  void next_page();
  void open_page(const ParquetPage& page);
  void keep_dictionary(const ParquetPage& page);
  ParquetPage header();
  PageBuffer& body(const ParquetPage& page, ParquetCodec codec);
  bool decompress(ParquetCodec codec, Bytes packed, char* to, size_t size) const;
  size_t levels_of(size_t rows);

  const ParquetFile& file_;
  const ParquetColumn& column_;
  const ParquetChunk& chunk_;
  size_t at_;  // in the file
  size_t skipped_ = 0;
  uint64_t left_ = 0;  // rows of the page
  bool has_dictionary_ = false;
  Bytes plain_;
  HybridReader places_, levels_;
  bool has_levels_ = false;

  std::vector<std::unique_ptr<PageBuffer>> used_, free_;
  PageBuffer raw_, head_;
  std::unique_ptr<PageBuffer> dictionary_page_;
  std::vector<Bytes> texts_;
  std::vector<double> numbers_;
  std::vector<int64_t> integers_;
  std::vector<uint32_t> numbered_;
  std::vector<uint8_t> present_;
};

}  // namespace gg
