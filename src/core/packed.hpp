// Rows of one query as one piece of bytes: what an engine moves between machines instead of rows.
#pragma once
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "arrow.hpp"
#include "evaluate.hpp"

namespace gg {

/// What a piece holds. Sorted by query and kind, a query's judgements come before its rows.
enum class PieceKind : int8_t { judgements = 0, run = 1, measured = 2 };

/// Texts one behind the other, laid out as an Arrow array of them.
struct Texts {
  std::vector<int32_t> ends{0};
  std::string bytes;

  void add(Bytes text) {
    bytes.append(text);
    ends.push_back(static_cast<int32_t>(bytes.size()));
  }
};

/// Pieces that are ready to be moved: for each its query, its kind, its bytes, and where its first row stands.
struct Pieces {
  Texts queries, bytes;
  std::vector<int8_t> kinds;
  std::vector<int64_t> places;
};

class PackedEvaluation;

/// Gathers rows by query, in the order they come; holds a window of them and no more.
class Packer {
 public:
  /// `first_place` is the place of the first row, so that pieces of several packers can be put in order.
  Packer(ColumnNames columns, Table table, int64_t first_place)
      : columns_(std::move(columns)), table_(table), place_(first_place) {}

  void add(const ArrowTable& rows);
  /// Whether it is time to take the pieces: they are as large as one message should be.
  bool full() const { return held_ >= window_bytes; }
  /// With `here`, queries are measured that seem to be whole: those between the first one and the one that is still
  /// being read. Whoever joins the pieces of all packers sees whether they were.
  Pieces take(PackedEvaluation* here = nullptr);
  /// Whether rows came of a query that was measured already, or left to others: they do not stand together.
  bool scattered() const { return scattered_; }
  const BadRows& bad() const { return bad_; }

 private:
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
  bool started_ = false, scattered_ = false;
  std::unordered_set<uint64_t> done_;  // hashes of queries whose rows should not come again
  std::string carried_;                // the query that was still being read when pieces were taken
  BadRows bad_;
};

/// What holds for all judgements together, where each query is judged on its own.
struct JudgementFacts {
  double max_gain = 0;
  bool has_targets = false, has_aspects = false;
};

/// Measures queries from pieces that come sorted by query and kind, batch after batch; holds one query at a time.
class PackedEvaluation {
 public:
  /// Without `qrels` the judgements come in pieces of their own; with them such a piece is only a mark that the
  /// query is judged, so that each judged query is measured in one place, also where the run lacks it.
  PackedEvaluation(std::shared_ptr<const Qrels> qrels, JudgementFacts facts, std::shared_ptr<const Plan> plan, std::string name);

  /// Columns `query`, `kind`, `place` and `piece`.
  void add(const ArrowTable& pieces);
  void finish() { close(); }
  /// A piece of rows as a piece of what was measured from it; nothing is counted here. Needs `qrels`.
  std::string measured(Bytes query, Bytes piece);

  /// The measured queries since the last time, one beside the other.
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
  std::string unjudged_example;
  bool scattered = false;  // a query that was measured where it was read has rows elsewhere
  BadRows bad;

 private:
  void close();
  void measure(const QueryJudgments& query);
  QueryCounts measure_rows(const QueryJudgments& query, double* out);
  void adopt(Bytes measured);
  void count(const QueryCounts& counts);
  double* next_values();

  std::shared_ptr<const Qrels> qrels_;
  JudgementFacts facts_;
  std::shared_ptr<const Plan> plan_;
  std::string name_;
  Worker worker_;
  bool open_ = false, is_judged_ = false;
  std::string query_;
  int64_t place_ = 0;
  std::vector<std::string> judgements_, run_, done_;  // the open query's pieces
  std::vector<Row> rows_;
  Measured measured_;
};

}  // namespace gg
