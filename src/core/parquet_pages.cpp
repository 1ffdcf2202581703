#include "parquet_pages.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "error.hpp"
#include "snappy.hpp"

namespace gg {

namespace {

[[noreturn]] void damaged() { bad_input("damaged Parquet data", {}, "write the file again, or copy it once more"); }

inline void require(bool holds) {
  if (!holds) [[unlikely]]
    damaged();
}

uint32_t load_4(const char* p) {
  uint32_t value;
  std::memcpy(&value, p, 4);
  return value;
}

template <class T>
T missing() {
  if constexpr (std::is_same_v<T, Bytes>) return {};
  else if constexpr (std::is_same_v<T, double>) return std::nan("");
  else return 0;
}

/// Converts numbers as they are stored to those that are wanted.
template <class Stored, class T>
void convert(const char* from, T* to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, from + i * sizeof(Stored), sizeof(Stored));
    to[i] = static_cast<T>(value);
  }
}

}  // namespace

char* PageBuffer::room(size_t size) {
  if (size + padding > capacity_) {
    capacity_ = size + padding;
    data_ = std::make_unique_for_overwrite<char[]>(capacity_);
  }
  size_ = size;
  std::memset(data_.get() + size, 0, padding);
  return data_.get();
}

// --- small integers ---

HybridReader::HybridReader(Bytes bytes, unsigned width) : p_(bytes.data()), end_(p_ + bytes.size()), width_(width) {
  require(width <= 32);
}

void HybridReader::next_run() {
  uint64_t head = 0;
  for (int shift = 0;; shift += 7) {
    require(p_ < end_ && shift < 35);
    const auto part = static_cast<unsigned char>(*p_++);
    head |= static_cast<uint64_t>(part & 127) << shift;
    if (part < 128) break;
  }
  const auto left = static_cast<uint64_t>(end_ - p_);
  if (head & 1) {
    packed_ = (head >> 1) * 8;
    const uint64_t bytes = std::min((head >> 1) * width_, left);
    if (width_) packed_ = std::min(packed_, bytes * 8 / width_);  // the last byte may be cut
    require(packed_ > 0);
    bits_ = p_;
    bit_ = 0;
    p_ += bytes;
  } else {
    const size_t bytes = (width_ + 7) / 8;
    require(bytes <= left && head > 0);
    value_ = 0;
    for (size_t i = 0; i < bytes; ++i) value_ |= static_cast<uint32_t>(static_cast<unsigned char>(p_[i])) << 8 * i;
    repeats_ = head >> 1;
    p_ += bytes;
  }
}

bool HybridReader::skip_ones(size_t count) {
  if (repeats_ == 0 && packed_ == 0) next_run();
  if (value_ != 1 || repeats_ < count) return false;
  repeats_ -= count;
  return true;
}

void HybridReader::read(uint32_t* to, size_t count) {
  const uint64_t mask = (uint64_t{1} << width_) - 1;
  while (count) {
    if (repeats_ == 0 && packed_ == 0) next_run();
    if (repeats_) {
      const auto n = static_cast<size_t>(std::min<uint64_t>(count, repeats_));
      std::fill_n(to, n, value_);
      repeats_ -= n;
      to += n;
      count -= n;
      continue;
    }
    const auto n = static_cast<size_t>(std::min<uint64_t>(count, packed_));
    uint64_t bit = bit_;
    for (size_t i = 0; i < n; ++i, bit += width_)  // the padding makes the last load safe
      to[i] = static_cast<uint32_t>(load_8(bits_ + bit / 8) >> bit % 8 & mask);
    bit_ = bit;
    packed_ -= n;
    to += n;
    count -= n;
  }
}

// --- pages ---

ParquetReader::ParquetReader(const ParquetFile& file, size_t group, size_t column)
    : file_(file), column_(file.columns()[column]), chunk_(file.groups()[group].chunks[column]), at_(chunk_.begin) {
  if (!chunk_.is_readable)
    bad_input("this Parquet file needs pyarrow: its values are encoded in another way", {},
              "install it: pip install 'goodgain[arrow]'");
}

ParquetPage ParquetReader::header() {
  for (size_t most = 256;; most *= 16) {
    const size_t size = std::min(most, chunk_.end - at_);
    require(size > 0);
    file_.file().read(at_, at_ + size, head_.room(size));
    try {
      const ParquetPage page = read_page_header(head_.bytes());
      require(page.compressed <= chunk_.end - at_ - page.header);
      return page;
    } catch (const Error&) {
      if (size == chunk_.end - at_ || most > (1 << 24)) throw;  // otherwise it may only be long
    }
  }
}

bool ParquetReader::decompress(ParquetCodec codec, Bytes packed, char* to, size_t size) const {
  switch (codec) {
    case ParquetCodec::snappy: return snappy_decompress(packed, to, size);
    case ParquetCodec::gzip: return file_.decompressors().gzip(packed, to, size);
    case ParquetCodec::zstd: return file_.decompressors().zstd(packed, to, size);
    default: return false;
  }
}

/// The bytes of the page whose header was just read, decompressed; those that tell nulls in the second version never
/// are compressed.
PageBuffer& ParquetReader::body(const ParquetPage& of, ParquetCodec codec) {
  const size_t compressed = of.compressed, size = of.size, levels = of.levels;
  if (free_.empty()) free_.push_back(std::make_unique<PageBuffer>());
  used_.push_back(std::move(free_.back()));
  free_.pop_back();
  PageBuffer& page = *used_.back();
  if (codec == ParquetCodec::none) {
    require(compressed == size);
    file_.file().read(at_, at_ + size, page.room(size));
    return page;
  }
  file_.file().read(at_, at_ + compressed, raw_.room(compressed));
  const Bytes packed = raw_.bytes().substr(levels);
  // Before memory is asked for: how many bytes one of them stands for at most.
  constexpr size_t of_snappy = 22, of_gzip = 1032, of_zstd = 1 << 15;
  const size_t most = codec == ParquetCodec::snappy ? of_snappy : codec == ParquetCodec::gzip ? of_gzip : of_zstd;
  require(size - levels <= most * packed.size());
  static_assert(snappy_slack <= PageBuffer::padding);
  char* to = page.room(size);
  copy_bytes(to, raw_.bytes().data(), levels);
  if (size > levels || !packed.empty()) require(decompress(codec, packed, to + levels, size - levels));
  std::memset(to + size, 0, PageBuffer::padding);
  return page;
}

template <>
const std::vector<Bytes>& ParquetReader::dictionary() const {
  return texts_;
}
template <>
const std::vector<double>& ParquetReader::dictionary() const {
  return numbers_;
}
template <>
const std::vector<int64_t>& ParquetReader::dictionary() const {
  return integers_;
}

void ParquetReader::keep_dictionary(const ParquetPage& page) {
  require(!dictionary_page_);  // its texts may be in use
  plain_ = body(page, chunk_.codec).bytes();
  dictionary_page_ = std::move(used_.back());  // its texts are used to the end
  used_.pop_back();
  require(page.values <= plain_.size());  // each takes a byte at least
  const auto values = static_cast<size_t>(page.values);
  if (column_.kind == ParquetColumn::Kind::text) {
    texts_.resize(values);
    read_plain(texts_.data(), values);
  } else if (column_.kind == ParquetColumn::Kind::integer) {
    integers_.resize(values);
    read_plain(integers_.data(), values);
    numbers_.assign(integers_.begin(), integers_.end());
  } else {
    numbers_.resize(values);
    read_plain(numbers_.data(), values);
  }
}

void ParquetReader::open_page(const ParquetPage& page) {
  Bytes bytes = body(page, page.is_compressed ? chunk_.codec : ParquetCodec::none).bytes();
  has_levels_ = column_.optional;
  if (page.is_second_version) {
    levels_ = HybridReader(bytes.substr(0, page.levels), 1);
    bytes.remove_prefix(page.levels);
  } else if (column_.optional) {
    require(page.has_run_lengths && bytes.size() >= 4);
    const size_t size = load_4(bytes.data());
    require(size <= bytes.size() - 4);
    levels_ = HybridReader(bytes.substr(4, size), 1);
    bytes.remove_prefix(4 + size);
  }
  has_dictionary_ = page.has_dictionary;
  plain_ = bytes;
  if (!has_dictionary_) return;
  // A page of nulls may have no byte for the width.
  const auto width = bytes.empty() ? 0u : static_cast<unsigned>(static_cast<unsigned char>(bytes[0]));
  places_ = HybridReader(bytes.substr(std::min<size_t>(1, bytes.size())), width);
}

void ParquetReader::next_page() {
  while (left_ == 0) {
    const ParquetPage page = header();
    at_ += page.header;
    if (page.kind == ParquetPage::Kind::dictionary) keep_dictionary(page);
    if (page.kind == ParquetPage::Kind::data) {
      if (page.values <= skipped_) skipped_ -= page.values;
      else {
        open_page(page);
        left_ = page.values;
      }
    }
    at_ += page.compressed;
  }
}

void ParquetReader::forget() {
  // The last page may still be read from.
  const auto kept = used_.end() - (left_ > 0 && !used_.empty() ? 1 : 0);
  free_.insert(free_.end(), std::make_move_iterator(used_.begin()), std::make_move_iterator(kept));
  used_.erase(used_.begin(), kept);
}

// --- values ---

template <class T>
void ParquetReader::read_plain(T* to, size_t count) {
  const char *p = plain_.data(), *const end = p + plain_.size();
  if constexpr (std::is_same_v<T, Bytes>) {
    for (size_t i = 0; i < count; ++i) {
      require(end - p >= 4);
      const size_t size = load_4(p);
      require(size <= static_cast<size_t>(end - p) - 4);
      to[i] = {p + 4, size};
      p += 4 + size;
    }
  } else {
    const bool is_short = column_.type == ParquetType::int32 || column_.type == ParquetType::float32;
    const size_t size = is_short ? 4 : 8;
    require(count <= static_cast<size_t>(end - p) / size);
    switch (column_.type) {
      case ParquetType::int32: convert<int32_t>(p, to, count); break;
      case ParquetType::int64: convert<int64_t>(p, to, count); break;
      case ParquetType::float32: convert<float>(p, to, count); break;
      default: convert<double>(p, to, count);
    }
    p += size * count;
  }
  plain_.remove_prefix(static_cast<size_t>(p - plain_.data()));
}

/// Values of rows that are not null.
template <class T>
void ParquetReader::read_present(T* to, size_t count) {
  if (!has_dictionary_) return read_plain(to, count);
  numbered_.resize(count);
  places_.read(numbered_.data(), count);
  const std::vector<T>& values = dictionary<T>();
  uint32_t highest = 0;
  for (const uint32_t place : numbered_) highest = std::max(highest, place);
  require(count == 0 || highest < values.size());
  for (size_t i = 0; i < count; ++i) to[i] = values[numbered_[i]];
}

/// Which of the next rows are there, into `present_`; how many. If all are, `present_` is not needed.
size_t ParquetReader::levels_of(size_t rows) {
  if (levels_.skip_ones(rows)) return rows;
  numbered_.resize(rows);
  levels_.read(numbered_.data(), rows);
  present_.resize(rows);
  size_t count = 0;
  for (size_t i = 0; i < rows; ++i) count += present_[i] = static_cast<uint8_t>(numbered_[i] & 1);
  return count;
}

template <class T>
void ParquetReader::read_values(T* to, uint8_t* valid, size_t rows) {
  catch_up();
  while (rows) {
    next_page();
    const auto n = static_cast<size_t>(std::min<uint64_t>(rows, left_));
    size_t present = has_levels_ ? levels_of(n) : n;
    read_present(to, present);
    if (valid) {
      if (present < n) std::copy_n(present_.data(), n, valid);
      else std::fill_n(valid, n, uint8_t{1});
    }
    if (present < n)  // from the last on, since every value moves towards the end
      for (size_t i = n; i-- > 0;) to[i] = present_[i] ? to[--present] : missing<T>();
    left_ -= n;
    rows -= n;
    to += n;
    if (valid) valid += n;
  }
}

void ParquetReader::read(Bytes* to, size_t rows) { read_values(to, nullptr, rows); }
void ParquetReader::read(double* to, size_t rows) {
  forget();
  read_values(to, nullptr, rows);
}
void ParquetReader::read(int64_t* to, uint8_t* valid, size_t rows) {
  forget();
  read_values(to, valid, rows);
}

/// Passes over what was skipped inside pages.
void ParquetReader::catch_up() {
  constexpr size_t most = 4096;
  Bytes texts[most];
  double numbers[most];
  while (skipped_) {
    if (left_ == 0) {
      next_page();  // which passes over whole pages
      continue;
    }
    const auto n = static_cast<size_t>(std::min<uint64_t>({skipped_, left_, most}));
    const size_t present = has_levels_ ? levels_of(n) : n;
    if (column_.kind == ParquetColumn::Kind::text) read_present(texts, present);
    else read_present(numbers, present);
    left_ -= n;
    skipped_ -= n;
  }
}

}  // namespace gg
