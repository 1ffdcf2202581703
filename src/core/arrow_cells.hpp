// The cells of Arrow arrays: texts, integers and numbers of every type that a table may have.
#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "arrow.hpp"
#include "error.hpp"

namespace gg {

inline bool valid(const ArrowArray& array, int64_t row) {
  if (array.null_count == 0 || array.n_buffers == 0 || !array.buffers[0]) return true;
  const int64_t i = row + array.offset;
  return (static_cast<const uint8_t*>(array.buffers[0])[i / 8] >> (i % 8)) & 1;
}

template <class T>
T at(const ArrowArray& array, int64_t row, size_t buffer = 1) {
  return static_cast<const T*>(array.buffers[buffer])[row + array.offset];
}

/// An integer of any width; nothing for other types.
inline std::optional<int64_t> integer_at(char format, const ArrowArray& array, int64_t row) {
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

inline std::optional<Decimal> decimal_format(const char* format) {
  if (format[0] != 'd' || format[1] != ':') return std::nullopt;
  Decimal decimal;
  int precision = 0;
  if (std::sscanf(format, "d:%d,%d,%d", &precision, &decimal.scale, &decimal.bits) < 2) return std::nullopt;
  if (decimal.bits != 32 && decimal.bits != 64 && decimal.bits != 128 && decimal.bits != 256) return std::nullopt;
  return decimal;
}

/// The digits of a decimal without its point: two's complement in little-endian words, divided by hand.
inline std::string digits_at(const Decimal& decimal, const ArrowArray& array, int64_t row) {
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
inline double decimal_at(const Decimal& decimal, const ArrowArray& array, int64_t row) {
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
inline double half_at(const ArrowArray& array, int64_t row) {
  const auto bits = at<uint16_t>(array, row);
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return std::nan("");  // infinite, or no number
  const double magnitude = exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
  return bits >> 15 ? -magnitude : magnitude;
}

inline const ArrowSchema& values_of(const ArrowSchema& schema) {
  return schema.dictionary ? *schema.dictionary : schema;
}

inline bool bit_at(const ArrowArray& array, int64_t row) {
  const int64_t i = row + array.offset;
  return (static_cast<const uint8_t*>(array.buffers[1])[i / 8] >> (i % 8)) & 1;
}

inline bool is_integer_format(const char* format) {
  return format[0] && !format[1] && std::strchr("cCsSiIlL", format[0]);
}

inline bool is_number_format(const char* format) {
  return is_integer_format(format) || decimal_format(format) ||
         (format[0] && !format[1] && std::strchr("efgb", format[0]));
}

/// The text of an element of a view array: short texts are inline, long ones in a data buffer.
inline Bytes view_at(const ArrowArray& array, int64_t row) {
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

inline constexpr const char* damaged_arrow_hint =
    "write it again; pyarrow finds the place with table.validate(full=True)";

template <class Offset>
void check_offsets(const ArrowArray& array, const std::string& place) {
  const Offset* offsets = static_cast<const Offset*>(array.buffers[1]) + array.offset;
  bool ordered = offsets[0] >= 0;
  for (int64_t i = 0; i < array.length; ++i) ordered &= offsets[i] <= offsets[i + 1];
  if (!ordered) bad_input("damaged Arrow data: the offsets of texts are not in order", place, damaged_arrow_hint);
}

inline bool is_utf8_format(const char* f) {
  return !std::strcmp(f, "u") || !std::strcmp(f, "U") || !std::strcmp(f, "vu");
}

inline bool is_text_format(const char* f) {
  return is_utf8_format(f) || !std::strcmp(f, "z") || !std::strcmp(f, "Z") || !std::strcmp(f, "vz");
}

/// Ids of one column of one batch; integers are converted to decimal text in the arena.
struct ArrowIds {
  ArrowIds(const ArrowSchema& schema, const ArrowArray& array, std::string place)
      : schema(schema), array(array), place(std::move(place)) {}

  Bytes get(int64_t row, int64_t row_number, Arena& arena) const {
    if (is_plain_) return text_at<int32_t>(array, row);
    return at_row(schema, array, row, row_number, arena);
  }

  const ArrowSchema& schema;
  const ArrowArray& array;
  std::string place;  // "column 'x' of name"

 private:
  Bytes at_row(const ArrowSchema& of, const ArrowArray& in, int64_t row, int64_t row_number, Arena& arena) const {
    if (!valid(in, row))
      bad_input("missing id", place + ", row " + std::to_string(row_number), "every row needs a query and a document");
    const char* f = of.format;
    if (of.dictionary) return at_row(*of.dictionary, *in.dictionary, *integer_at(f[0], in, row), row_number, arena);
    if (f[0] == 'u' || f[0] == 'z') return text_at<int32_t>(in, row);
    if (f[0] == 'U' || f[0] == 'Z') return text_at<int64_t>(in, row);
    if (f[0] == 'v') return view_at(in, row);
    if (decimal_) return arena.keep(digits_at(*decimal_, in, row));
    char digits[24];
    char* end;
    if (f[0] == 'L') end = std::to_chars(digits, digits + 24, at<uint64_t>(in, row)).ptr;
    else end = std::to_chars(digits, digits + 24, *integer_at(f[0], in, row)).ptr;
    return arena.keep({digits, static_cast<size_t>(end - digits)});
  }

  std::optional<Decimal> decimal_ = decimal_format(values_of(schema).format);
  bool is_plain_ = array.null_count == 0 && !schema.dictionary && (schema.format[0] == 'u' || schema.format[0] == 'z');
};

/// The scores or gains of one batch.
struct ArrowNumbers {
  ArrowNumbers(const ArrowSchema& schema, const ArrowArray& array, std::string place, Table table)
      : schema(schema), array(array), place(std::move(place)), table(table) {}

  double get(int64_t row, int64_t row_number) const {
    const double value = is_plain_ ? at<double>(array, row) : at_row(schema, array, row);
    if (!std::isfinite(value))
      bad_input(std::string("the ") + (table == Table::run ? "score" : "gain") + " is missing or not a finite number",
                place + ", row " + std::to_string(row_number), "remove the row, or correct it");
    return value;
  }

  const ArrowSchema& schema;
  const ArrowArray& array;
  std::string place;
  Table table;

 private:
  double at_row(const ArrowSchema& of, const ArrowArray& in, int64_t row) const {
    if (!valid(in, row)) return std::nan("");
    if (of.dictionary) return at_row(*of.dictionary, *in.dictionary, *integer_at(of.format[0], in, row));
    if (of.format[0] == 'g') return at<double>(in, row);
    if (of.format[0] == 'f') return static_cast<double>(at<float>(in, row));
    if (of.format[0] == 'L') return static_cast<double>(at<uint64_t>(in, row));
    if (of.format[0] == 'e') return half_at(in, row);
    if (of.format[0] == 'b') return bit_at(in, row) ? 1 : 0;
    if (decimal_) return decimal_at(*decimal_, in, row);
    return static_cast<double>(*integer_at(of.format[0], in, row));
  }

  std::optional<Decimal> decimal_ = decimal_format(values_of(schema).format);
  bool is_plain_ = array.null_count == 0 && !schema.dictionary && schema.format[0] == 'g';
};

}  // namespace gg
