// The Snappy format, in which most Parquet files are compressed.
#pragma once
#include <optional>

#include "bytes.hpp"

namespace gg {

/// The size of what is compressed, if the bytes begin as they should.
std::optional<size_t> snappy_size(Bytes compressed);

/// Decompresses exactly `size` bytes into `to`, which has `slack` more bytes that may be overwritten; false if the
/// bytes are damaged.
constexpr size_t snappy_slack = 32;
bool snappy_decompress(Bytes compressed, char* to, size_t size);

}  // namespace gg
