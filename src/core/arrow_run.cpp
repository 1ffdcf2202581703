#include "arrow_run.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "arrow_cells.hpp"
#include "error.hpp"
#include "run_evaluation.hpp"

namespace gg {

namespace {

constexpr size_t bytes_of_row = 32;  // about

/// The places of the columns of a run in a table.
struct RunColumns {
  size_t query, doc, value, run;

  RunColumns(const ArrowTable& table, const ColumnNames& names)
      : query(table.column(names.query)),
        doc(table.column(names.doc)),
        value(table.column(names.value)),
        run(names.run.empty() ? query : table.column(names.run)) {}
};

/// Rows of one batch. The table stays as long as they are used.
struct ArrowBlock {
  size_t number = 0;
  std::shared_ptr<const ArrowTable> table;
  const ArrowArray* batch = nullptr;
  int64_t begin = 0, end = 0;
  uint64_t first = 0;  // the place of the first row in the whole
};

/// One pass over the data, from which threads take blocks.
class ArrowPass {
 public:
  ArrowPass(std::function<ArrowPiece()> next, const ColumnNames& names, int64_t rows_of_block)
      : next_(std::move(next)), names_(names), rows_of_block_(rows_of_block) {}

  /// False at the end.
  bool take(ArrowBlock& block) {
    const std::lock_guard lock(mutex_);
    while (!piece_.table || batch_ == piece_.table->batches().size() || row_ == batch().length)
      if (!advance()) return false;
    block.number = number_++;
    block.table = piece_.table;
    block.batch = &batch();
    block.begin = row_;
    block.end = row_ = std::min(batch().length, row_ + rows_of_block_);
    block.first = place_;
    place_ += static_cast<uint64_t>(block.end - block.begin);
    return true;
  }

 private:
  const ArrowArray& batch() const { return piece_.table->batches()[batch_]; }

  /// Goes on to the next batch or piece.
  bool advance() {
    row_ = 0;
    if (piece_.table && batch_ < piece_.table->batches().size()) {
      ++batch_;
      return true;
    }
    if (ended_) return false;
    ended_ = true;  // also after an error
    piece_ = {};
    ArrowPiece piece = next_();
    if (!piece.table) return false;
    const ArrowTable& table = *piece.table;
    const RunColumns columns(table, names_);
    for (const size_t c : {columns.query, columns.doc, columns.run}) table.kind(c);
    table.require_numbers(columns.value);
    table.check_columns({columns.query, columns.doc, columns.value, columns.run});
    piece_ = std::move(piece);  // not before: after an error other threads must find nothing
    batch_ = 0;
    place_ = piece_.first;
    ended_ = false;
    return true;
  }

  std::mutex mutex_;
  std::function<ArrowPiece()> next_;
  const ColumnNames& names_;
  const int64_t rows_of_block_;
  ArrowPiece piece_;
  size_t batch_ = 0, number_ = 0;
  int64_t row_ = 0;
  uint64_t place_ = 0;
  bool ended_ = false;
};

/// The rows of a run, for RunEvaluation. A place is the number of a row, from 0.
class ArrowRows {
 public:
  ArrowRows(const ArrowSource& source, const ColumnNames& names, const Qrels& qrels)
      : source_(source), names_(names), qrels_(qrels) {}

  size_t size() const { return source_.rows * bytes_of_row; }
  ArrowRows fresh() const { return ArrowRows(source_, names_, qrels_); }
  void start(size_t block_bytes) {
    const auto rows = static_cast<int64_t>(block_bytes / bytes_of_row);
    pass_ = std::make_unique<ArrowPass>(source_.open(), names_, std::max<int64_t>(rows, 1));
  }
  std::string where(uint64_t place) const { return source_.name + ", row " + std::to_string(place + 1); }
  uint64_t left_out(IdTable& queries) const {
    if (!source_.left_out) return 0;
    for (size_t q = 0; q < source_.left_out->queries.size(); ++q) queries.add(source_.left_out->queries[q]);
    return source_.left_out->rows;
  }

  class Cursor {
   public:
    explicit Cursor(ArrowRows& rows) : rows_(rows) {}

    bool take() {
      pause_point();
      arena_.clear();
      return rows_.pass_->take(block_);
    }
    size_t number() const { return block_.number; }
    uint64_t place() const { return block_.first; }

    template <class Row, class Bad>
    void for_each(Row&& row, Bad&& bad) {
      const ArrowTable& table = *block_.table;
      const ColumnNames& names = rows_.names_;
      const RunColumns columns(table, names);
      const auto ids = [&](size_t c) {
        return ArrowIds(table.schema(c), *block_.batch->children[c], table.place_of(c));
      };
      const ArrowIds queries = ids(columns.query), docs = ids(columns.doc), runs = ids(columns.run);
      const ArrowNumbers values(table.schema(columns.value), *block_.batch->children[columns.value],
                                table.place_of(columns.value), Table::run);
      const bool one_run = !names.run.empty();
      bool first = true;
      Line line{};
      for (int64_t i = block_.begin; i < block_.end; ++i) {
        const int64_t r = i + block_.batch->offset;
        const uint64_t place = block_.first + static_cast<uint64_t>(i - block_.begin);
        const auto number = static_cast<int64_t>(place) + 1;
        try {
          if (one_run && runs.get(r, number, arena_) != names.only) continue;
          line.query = queries.get(r, number, arena_);
          line.doc = docs.get(r, number, arena_);
          line.value = values.get(r, number);
        } catch (const Error& e) {
          bad(place, [&e] { return e; });
          continue;
        }
        if (std::exchange(first, false)) rows_.require_same_kinds(table, columns, line);
        if (!row(line, place)) return;
      }
    }

   private:
    ArrowRows& rows_;
    ArrowBlock block_;
    Arena arena_;
  };

 private:
  void require_same_kinds(const ArrowTable& table, const RunColumns& columns, const Line& example) const {
    const IdKind queries = table.kind(columns.query), docs = table.kind(columns.doc);
    if (queries == qrels_.query_kind && docs == qrels_.doc_kind) return;
    gg::require_same_kinds(qrels_, {queries, std::string(example.query)}, {docs, std::string(example.doc)},
                           source_.name);
  }

  const ArrowSource& source_;
  const ColumnNames& names_;
  const Qrels& qrels_;
  std::unique_ptr<ArrowPass> pass_;
};

/// Measures queries that the run has, but without results.
void add_empty(Scores& scores, const Plan& plan, const std::vector<std::string>& queries, const std::string& name) {
  Worker worker(*scores.qrels, plan);
  std::vector<Row> no_rows;
  for (const std::string& id : queries) {
    const uint32_t q = scores.qrels->find(id);
    if (q == IdTable::none) {
      if (scores.unjudged_queries++ == 0) scores.unjudged_example = id;
    } else if (!scores.in_run[q]) {
      scores.in_run[q] = 1;
      scores.counts[q] = worker.measure((*scores.qrels)[q], no_rows, false, scores.values.data() + q * scores.width,
                                        [&](const Row&) { return name; });
    }
  }
}

}  // namespace

Scores evaluate_arrow(std::shared_ptr<const Qrels> qrels, const ArrowSource& source, const ColumnNames& columns,
                      const Plan& plan, Resources resources, const std::vector<std::string>& without_results) {
  ArrowRows rows(source, columns, *qrels);
  Scores scores = RunEvaluation(std::move(qrels), rows, plan, resources).run();
  add_empty(scores, plan, without_results, source.name);
  return complete(std::move(scores), plan, source.name);
}

Scores evaluate_arrow(std::shared_ptr<const Qrels> qrels, const ArrowTable& table, const ColumnNames& columns,
                      const Plan& plan, Resources resources, const std::vector<std::string>& without_results) {
  ArrowSource source{table.name(), 0, [&table] {
                       return [&table, at_end = false]() mutable {
                         // The table outlives the call.
                         const auto borrowed = std::shared_ptr<const ArrowTable>(std::shared_ptr<void>(), &table);
                         return std::exchange(at_end, true) ? ArrowPiece{} : ArrowPiece{borrowed};
                       };
                     }};
  for (const ArrowArray& batch : table.batches())
    source.rows += static_cast<size_t>(std::max<int64_t>(batch.length, 0));
  return evaluate_arrow(std::move(qrels), source, columns, plan, resources, without_results);
}

}  // namespace gg
