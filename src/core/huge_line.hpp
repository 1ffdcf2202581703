// A conversation too large to be held parsed: its lists of results are cut out and parsed in pieces, when needed.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bytes.hpp"

namespace gg {

/// From how many bytes on a line is cut, and the size of the pieces. Every result parsed costs some 300 bytes.
struct HugeLines {
  size_t line = 4 << 20;
  size_t piece = 256 << 10;
};

struct CutLine {
  std::string rest;            // the line with the numbers 0, 1, 2, ... in place of its lists of results
  std::vector<Bytes> pieces;   // items of these lists, separated by commas; views into the line
  std::vector<uint32_t> ends;  // per list, where its pieces end; they begin where those of the last one end
};

/// Cuts `"results": [...]` out of the searches of a conversation. None if the line is not of the expected form, and
/// then only its whole parse can say what it means. Pieces and rest that parse mean that the line does.
std::optional<CutLine> cut_results(Bytes line, size_t piece_bytes);

}  // namespace gg
