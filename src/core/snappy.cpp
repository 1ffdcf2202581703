#include "snappy.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace gg {

namespace {

/// Reads the size at the beginning; null if it is damaged.
const char* read_size(const char* p, const char* end, uint64_t& size) {
  size = 0;
  for (int shift = 0; shift < 35 && p < end; shift += 7) {
    const auto part = static_cast<unsigned char>(*p++);
    size |= static_cast<uint64_t>(part & 127) << shift;
    if (part < 128) return p;
  }
  return nullptr;
}

/// Repeats what came `offset` bytes before; writes up to seven bytes more.
void copy_back(char* to, size_t offset, size_t size) {
  const char* from = to - offset;
  if (offset >= 8)
    for (size_t i = 0; i < size; i += 8) std::memcpy(to + i, from + i, 8);
  else
    for (size_t i = 0; i < size; ++i) to[i] = from[i];
}

size_t byte_at(const char* p) { return static_cast<unsigned char>(*p); }

/// The bytes after a tag of each kind.
constexpr size_t tag_bytes[] = {0, 1, 2, 4};

/// The length and the offset of a copy whose tag stands before `p`.
struct Copy {
  size_t length, offset;
  Copy(size_t tag, const char* p) {
    if ((tag & 3) == 1) {
      length = (tag >> 2 & 7) + 4;
      offset = tag >> 5 << 8 | byte_at(p);
    } else {
      length = (tag >> 2) + 1;
      offset = byte_at(p) | byte_at(p + 1) << 8;
      if ((tag & 3) == 3) offset |= byte_at(p + 2) << 16 | byte_at(p + 3) << 24;
    }
  }
};

/// What a tag says of a usual step: at most 64 bytes, as they are or from up to 64 kB before.
struct alignas(4) Step {
  uint8_t length;
  uint8_t bytes;    // with the tag; 0 for steps that are not usual
  uint16_t offset;  // its upper bits
};

constexpr std::array<Step, 256> usual_steps = [] {
  std::array<Step, 256> steps{};
  for (unsigned tag = 0; tag < 256; ++tag) {
    const unsigned kind = tag & 3, length = kind == 1 ? (tag >> 2 & 7) + 4 : (tag >> 2) + 1;
    const bool is_usual = kind != 3 && (kind != 0 || length <= 60);
    steps[tag] = {static_cast<uint8_t>(length),
                  static_cast<uint8_t>(is_usual ? 1 + (kind == 0 ? length : tag_bytes[kind]) : 0),
                  static_cast<uint16_t>(kind == 1 ? tag >> 5 << 8 : 0)};
  }
  return steps;
}();

constexpr uint32_t offset_masks[] = {0, 0xff, 0xffff, 0};

}  // namespace

std::optional<size_t> snappy_size(Bytes compressed) {
  uint64_t size = 0;
  if (!read_size(compressed.data(), compressed.data() + compressed.size(), size) || size > 0xffffffffu) return {};
  return static_cast<size_t>(size);
}

bool snappy_decompress(Bytes compressed, char* to, size_t size) {
  const char *p = compressed.data(), *end = p + compressed.size();
  uint64_t claimed = 0;
  p = read_size(p, end, claimed);
  if (!p || claimed != size) return false;
  char *out = to, *const out_end = to + size;
  while (p < end) {
    // As long as neither end is near there is room for whatever a usual step writes. What kind it is cannot be
    // predicted, so nothing branches on that.
    constexpr ptrdiff_t far = 80;
    while (end - p >= far && out_end - out >= far) {
      const size_t tag = byte_at(p), kind = tag & 3;
      const Step step = usual_steps[tag];
      uint32_t next;
      std::memcpy(&next, p + 1, 4);
      const size_t offset = (next & offset_masks[kind]) | step.offset;
      const bool repeats = offset<step.length, leads_out = offset> static_cast<size_t>(out - to);
      if (static_cast<int>(step.bytes == 0) | (static_cast<int>(kind != 0) & (repeats | leads_out))) break;
      const char* from = kind ? out - offset : p + 1;
      std::memcpy(out, from, 16);
      if (step.length > 16) {
        std::memcpy(out + 16, from + 16, 16);
        std::memcpy(out + 32, from + 32, 16);
        std::memcpy(out + 48, from + 48, 16);
      }
      out += step.length;
      p += step.bytes;
    }
    if (p == end) break;
    const size_t tag = byte_at(p++);
    const auto room = static_cast<size_t>(out_end - out);
    if ((tag & 3) == 0) {
      size_t length = (tag >> 2) + 1;
      if (length > 60) {
        const size_t bytes = length - 60;
        if (static_cast<size_t>(end - p) < bytes) return false;
        length = 1;
        for (size_t i = 0; i < bytes; ++i) length += byte_at(p + i) << 8 * i;
        p += bytes;
      }
      if (length > static_cast<size_t>(end - p) || length > room) return false;
      std::memcpy(out, p, length);
      p += length;
      out += length;
    } else {
      if (static_cast<size_t>(end - p) < tag_bytes[tag & 3]) return false;
      const Copy copy(tag, p);
      if (copy.offset - 1 >= static_cast<size_t>(out - to) || copy.length > room) return false;
      copy_back(out, copy.offset, copy.length);
      p += tag_bytes[tag & 3];
      out += copy.length;
    }
  }
  return out == out_end;
}

}  // namespace gg
