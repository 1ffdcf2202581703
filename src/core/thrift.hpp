// Thrift's compact protocol, in which Parquet writes what it says about itself.
#pragma once
#include <cstdint>

#include "bytes.hpp"
#include "error.hpp"

namespace gg {

/// Reads one value after the other; whatever leads outside the bytes is an error.
class ThriftReader {
 public:
  enum Type : uint8_t { stop, yes, no, i8, i16, i32, i64, number, binary, list, set, map, record, uuid };

  explicit ThriftReader(Bytes bytes) : begin_(bytes.data()), p_(begin_), end_(begin_ + bytes.size()) {}

  size_t position() const { return static_cast<size_t>(p_ - begin_); }

  /// Calls `use(id, type)` for each field of a record, which reads the value or returns false.
  template <class Use>
  void fields(Use&& use) {
    const Deeper deeper(*this);
    int64_t id = 0;
    while (true) {
      const uint8_t head = byte();
      const auto type = static_cast<Type>(head & 15);
      if (type == stop) return;
      id = head >> 4 ? id + (head >> 4) : integer();
      if (!use(id, type)) skip(type);
    }
  }

  /// Calls `use(type)` for each element of a list, which must read it.
  template <class Use>
  void elements(Use&& use) {
    const Deeper deeper(*this);
    const uint8_t head = byte();
    const auto type = static_cast<Type>(head & 15);
    uint64_t size = head >> 4;
    if (size == 15) size = unsigned_integer();
    require(size <= static_cast<uint64_t>(end_ - p_));  // each takes a byte at least
    for (uint64_t i = 0; i < size; ++i) use(type);
  }

  int64_t integer() {
    const uint64_t zigzag = unsigned_integer();
    return static_cast<int64_t>(zigzag >> 1) ^ -static_cast<int64_t>(zigzag & 1);
  }

  Bytes text() {
    const uint64_t size = unsigned_integer();
    require(size <= static_cast<uint64_t>(end_ - p_));
    const char* from = p_;
    p_ += size;
    return {from, static_cast<size_t>(size)};
  }

  void skip(Type type) {
    switch (type) {
      case yes:
      case no: return;
      case i8: byte(); return;
      case i16:
      case i32:
      case i64: integer(); return;
      case number: pass(8); return;
      case uuid: pass(16); return;
      case binary: text(); return;
      case list:
      case set: elements([this](Type of) { skip_element(of); }); return;
      case map: {
        const Deeper deeper(*this);
        const uint64_t size = unsigned_integer();
        if (size == 0) return;
        require(size <= static_cast<uint64_t>(end_ - p_));
        const uint8_t types = byte();
        for (uint64_t i = 0; i < size; ++i) {
          skip_element(static_cast<Type>(types >> 4));
          skip_element(static_cast<Type>(types & 15));
        }
        return;
      }
      case record: fields([](int64_t, Type) { return false; }); return;
      default: require(false);
    }
  }

 private:
  /// Records inside records, up to a depth that no real file has.
  struct Deeper {
    explicit Deeper(ThriftReader& reader) : reader(reader) { reader.require(++reader.depth_ < 32); }
    ~Deeper() { --reader.depth_; }
    ThriftReader& reader;
  };

  void skip_element(Type type) { type == yes || type == no ? pass(1) : skip(type); }

  static void require(bool holds) {
    if (!holds) bad_input("damaged Parquet metadata", {}, "write the file again, or copy it once more");
  }

  void pass(size_t bytes) {
    require(bytes <= static_cast<size_t>(end_ - p_));
    p_ += bytes;
  }

  uint8_t byte() {
    require(p_ < end_);
    return static_cast<uint8_t>(*p_++);
  }

  uint64_t unsigned_integer() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t part = byte();
      value |= static_cast<uint64_t>(part & 127) << shift;
      if (part < 128) return value;
    }
    require(false);
    return 0;
  }

  const char *begin_, *p_, *end_;
  int depth_ = 0;
};

}  // namespace gg
