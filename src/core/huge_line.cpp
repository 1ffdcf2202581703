#include "huge_line.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace gg {

namespace {

constexpr Bytes blanks = " \t\r\n";
constexpr int search_depth = 7;  // conversation, turns, turn, iterations, iteration, searches, search
constexpr int deepest = 900;     // the parser counts from the outermost level, up to 1,024
constexpr Bytes key = "\"results\"";

class Cutter {
 public:
  Cutter(Bytes line, size_t piece_bytes) : line_(line), piece_bytes_(piece_bytes) {}

  std::optional<CutLine> cut() {
    int depth = 0;
    size_t copied = 0;  // the line is in `rest` up to here
    for (size_t at = 0; at < line_.size();) {
      const char c = line_[at];
      if (c == '"') {
        const size_t end = after_text(at);
        const bool is_key = depth == search_depth && line_.substr(at, end - at) == key;
        at = end;
        if (!is_key) continue;
        at = after_blanks(at);
        if (at == line_.size() || line_[at] != ':') continue;  // a text, not a key
        at = after_blanks(at + 1);
        if (at < line_.size() && line_[at] == 'n') continue;  // null
        if (at == line_.size() || line_[at] != '[') return std::nullopt;
        cut_.rest += line_.substr(copied, at - copied);
        cut_.rest += std::to_string(cut_.ends.size());
        if (!cut_list(at)) return std::nullopt;
        copied = at;
        continue;
      }
      depth += (c == '{' || c == '[') - (c == '}' || c == ']');
      if (depth > deepest) return std::nullopt;
      ++at;
    }
    cut_.rest += line_.substr(copied);
    return std::move(cut_);
  }

 private:
  size_t after_blanks(size_t at) const { return std::min(line_.find_first_not_of(blanks, at), line_.size()); }

  /// Behind the closing quote of a text that begins at `at`.
  size_t after_text(size_t at) const {
    for (size_t quote = at + 1;; ++quote) {
      quote = line_.find('"', quote);
      if (quote == Bytes::npos) return line_.size();
      size_t slashes = 0;
      while (line_[quote - 1 - slashes] == '\\') ++slashes;
      if (slashes % 2 == 0) return quote + 1;
    }
  }

  /// Cuts the list that begins at `at`, and moves behind it; false if its form is not that of a list.
  bool cut_list(size_t& at) {
    size_t begin = ++at;
    bool has_items = false;
    const auto add_piece = [&](size_t end) {
      pause_point();
      const Bytes piece = line_.substr(begin, end - begin);
      const bool is_blank = piece.find_first_not_of(blanks) == Bytes::npos;
      if (!is_blank) cut_.pieces.push_back(piece);
      begin = end + 1;
      return !is_blank;
    };
    for (int depth = 1; at < line_.size();) {
      const char c = line_[at];
      if (c == '"') {
        at = after_text(at);
        continue;
      }
      depth += (c == '{' || c == '[') - (c == '}' || c == ']');
      if (depth > deepest) return false;
      if (depth == 0) {
        if (c != ']' || (!add_piece(at) && has_items)) return false;
        cut_.ends.push_back(static_cast<uint32_t>(cut_.pieces.size()));
        ++at;
        return true;
      }
      if (c == ',' && depth == 1 && at - begin >= piece_bytes_) {
        if (!add_piece(at)) return false;
        has_items = true;
      }
      ++at;
    }
    return false;
  }

  Bytes line_;
  size_t piece_bytes_;
  CutLine cut_;
};

}  // namespace

std::optional<CutLine> cut_results(Bytes line, size_t piece_bytes) { return Cutter(line, piece_bytes).cut(); }

}  // namespace gg
