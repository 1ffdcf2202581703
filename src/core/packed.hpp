// The rows of one query packed into one piece of bytes, which engines move between machines instead of rows.
#pragma once
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "arrow.hpp"
#include "evaluate.hpp"

namespace gg {

/// The content of a piece. Sorted by query and kind, a query's judgments come before its rows.
enum class PieceKind : int8_t { judgments = 0, run = 1, measured = 2 };

/// Concatenated texts in the layout of an Arrow array.
struct Texts {
  std::vector<int32_t> ends{0};
  std::string bytes;

  void add(Bytes text) {
    bytes.append(text);
    ends.push_back(static_cast<int32_t>(bytes.size()));
  }
};

/// Pieces ready to be moved: for each its query, its kind, its bytes, and the place of its first row.
struct Pieces {
  Texts queries, bytes;
  std::vector<int8_t> kinds;
  std::vector<int64_t> places;
};

class PackedEvaluation;

/// Groups rows by query in order of arrival; holds no more than a window of them.
class Packer {
 public:
  /// `first_place` is the place of the first row; it orders the pieces of several packers.
  Packer(ColumnNames columns, Table table, int64_t first_place)
      : columns_(std::move(columns)), table_(table), place_(first_place) {}

  void add(const ArrowTable& rows);
  /// Lines of text files: in each row of the column `line` one line, or all of a file.
  void add_lines(const ArrowTable& lines, const LineFormat& format);
  /// Whether the pieces have reached the size of one message and should be taken.
  bool full() const { return held_ >= window_bytes; }
  /// With `here`, measures queries that appear to be complete: those between the first one of a split and the one
  /// still being read. Whoever joins the pieces of all packers detects if they were not.
  Pieces take(PackedEvaluation* here = nullptr);
  /// The rows that follow are read from another place, where a query may have begun before; call `take` first.
  void begin_split() { is_first_ = true; }
  /// Whether more rows came for a query already measured, so that its rows are not contiguous.
  bool scattered() const { return scattered_; }
  /// Whether a quoted field spans lines, so that lines must not be divided among packers.
  bool broken() const { return broken_; }
  const BadRows& bad() const { return bad_; }

 private:
  void add(const Line& line, int64_t place);

  struct Open {
    int64_t place = 0;
    uint32_t rows = 0;
    std::string values, docs, targets, aspects;
  };
  static constexpr size_t window_bytes = 16 << 20;

  ColumnNames columns_;
  Table table_;
  int64_t place_;
  size_t held_ = 0;
  IdTable queries_;
  std::vector<Open> open_;
  uint32_t last_ = IdTable::none;  // the query of the last row
  bool is_first_ = true;           // the next query taken is the first of a split
  bool scattered_ = false, broken_ = false;
  std::unordered_set<uint64_t> done_;  // hashes of measured queries, of which no more rows should come
  std::string carried_;                // the query that was still being read when the pieces were taken
  BadRows bad_;
};

/// Facts about the whole set of judgments, for queries that are judged on their own.
struct JudgmentFacts {
  double max_gain = 0;
  bool has_targets = false, has_aspects = false;
};

/// Measures queries from pieces sorted by query and kind, batch by batch; holds one query at a time.
class PackedEvaluation {
 public:
  /// Without `qrels` the judgments come in pieces of their own. With `qrels` such a piece only marks the query as
  /// judged, so that each judged query is measured in exactly one place, even if it is missing from the run.
  PackedEvaluation(std::shared_ptr<const Qrels> qrels, JudgmentFacts facts, std::shared_ptr<const Plan> plan,
                   std::string name);

  /// Columns `query`, `kind`, `place` and `piece`.
  void add(const ArrowTable& pieces);
  void finish() { close(); }
  /// Turns a piece of rows into a piece of values; counts nothing. Needs `qrels`.
  std::string measured(Bytes query, Bytes piece);

  /// The queries measured since the last call, as columns.
  struct Measured {
    Texts queries;
    std::vector<int64_t> places;
    std::vector<uint8_t> in_run;
    std::vector<double> values;  // queries x width
  };
  Measured take() { return std::exchange(measured_, {}); }

  size_t width() const { return plan_->width(); }
  size_t waiting() const { return measured_.places.size(); }
  uint64_t judged = 0, in_run = 0, unjudged_queries = 0, documents = 0;
  uint64_t retrieved = 0, unjudged = 0, top = 0, top_judged = 0;
  uint64_t shared_ranks = 0, rank_gaps = 0, ranks_from_zero = 0;
  std::string unjudged_example;
  bool scattered = false;  // a query that was measured where it was read has more rows elsewhere
  BadRows bad;

 private:
  void close();
  void measure(const QueryJudgments& query);
  QueryCounts measure_rows(const QueryJudgments& query, double* out);
  void adopt(Bytes values_piece);
  void count(const QueryCounts& counts);
  double* next_values();

  std::shared_ptr<const Qrels> qrels_;
  JudgmentFacts facts_;
  std::shared_ptr<const Plan> plan_;
  std::string name_;
  Worker worker_;
  bool open_ = false, is_judged_ = false;
  std::string query_;
  int64_t place_ = 0;
  std::vector<std::string> judgments_, run_, done_;  // pieces of the open query
  std::vector<Row> rows_;
  Measured measured_;
};

}  // namespace gg
