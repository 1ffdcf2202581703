// Evaluation: ranks and measures every judged query of a run, on all threads.
#pragma once
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "error.hpp"
#include "lines.hpp"
#include "parallel.hpp"
#include "qrels.hpp"
#include "ranking.hpp"
#include "spec.hpp"
#include "top_lists.hpp"

namespace gg {

/// A user-defined measure: gains in rank order (NaN for unjudged documents) to a number.
using CustomMeasure = std::function<double(const QueryJudgments&, const std::vector<double>&)>;

/// Measures and policies, prepared once and used for any number of runs.
struct Plan {
  std::vector<Spec> measures;          // a measure without a kernel is the custom one at the same index
  std::vector<CustomMeasure> customs;  // parallel to `measures`; empty where there is a kernel
  Policy policy;
  /// Measures that share a policy. Other tools' conventions differ by measure.
  struct Group {
    Policy policy;
    std::vector<uint32_t> measures;
  };
  std::vector<Group> groups;
  bool has_customs = false;
  bool may_be_disjoint = false;  // a run without any judged query is not an error
  TopLists* lists = nullptr;     // collects the top ranks of every query, if not null
  bool skip_bad = false;         // bad rows are skipped and counted; of duplicate documents the first counts
  bool repeats_are_bad = false;  // with skip_bad: the policy makes duplicate documents an error
  bool by_rank = false;          // the values of a run are ranks: the smallest is best

  /// Adds the last measure to the group of its policy.
  void group_next(const Policy& of_measure);

  /// Values per query: one per measure, followed by lower and upper bounds where there are any.
  size_t width() const { return measures.size() * (policy.bounds() ? 3 : 1); }
};

/// What the ranks of one query look like if they are not 1, 2, 3, ...
struct RankFacts {
  uint8_t shared = 0, gaps = 0, from_zero = 0;  // whether documents share a rank, ranks are left out, the first is 0
  uint32_t bad = 0;                             // rows dropped because their rank is not one, under skip_bad
};

/// Counts of one query.
struct QueryCounts {
  uint32_t retrieved = 0, unjudged = 0, top = 0, top_judged = 0;  // top: in the first ten
  uint32_t repeated = 0;                                          // rows dropped because their document came before
  RankFacts ranks;                                                // only of runs with ranks in place of scores
};

/// Rows that were skipped as unusable, with the reason for the first of them.
struct BadRows {
  uint64_t count = 0;
  std::string example;

  void add(const std::string& why) {
    if (count++ == 0) example = why;
  }
  void join(const BadRows& later) {
    if (count == 0) example = later.example;
    count += later.count;
  }
};

/// An error on one line: message and place.
std::string as_example(const Error& error);

/// The values of one run per query, in the order of the qrels.
struct Scores {
  std::shared_ptr<const Qrels> qrels;
  size_t width = 0;
  std::vector<double> values;       // queries x width
  std::vector<QueryCounts> counts;  // per query
  std::vector<uint8_t> in_run;      // whether the run has the query
  uint64_t unjudged_queries = 0;    // queries of the run without judgments
  std::string unjudged_example;
  uint64_t documents = 0;  // lines of the run, including those of unjudged queries
  BadRows bad;             // only if the plan skips them
};

/// Measures queries one by one; one worker per thread.
class Worker {
 public:
  Worker() = default;  // to be prepared
  Worker(const Qrels& qrels, const Plan& plan) : qrels_(&qrels), plan_(&plan) {}

  /// For another run; the memory is used again.
  void prepare(const Qrels& qrels, const Plan& plan) { qrels_ = &qrels, plan_ = &plan; }
  /// Replaces the judgments, for inputs in which each query brings its own.
  void judge_by(const Qrels& qrels) { qrels_ = &qrels; }

  /// Takes all rows of a query and writes `plan.width()` values. `where(row)` locates a duplicate document.
  template <class Where>
  QueryCounts measure(const QueryJudgments& query, std::vector<Row>& rows, bool may_repeat, double* out,
                      Where&& where) {
    QueryCounts query_counts;
    RankFacts ranks;
    if (plan_->by_rank) ranks = ranks_to_scores(query, rows, where);
    TopList list;
    for (size_t g = 0; g < plan_->groups.size(); ++g) {
      const bool last = g + 1 == plan_->groups.size();
      if (!last) copy_ = rows;  // ranking modifies the rows
      std::vector<Row>& own = last ? rows : copy_;
      const size_t before = own.size();
      const Ranked ranked = ranker_.rank(*qrels_, query, own, plan_->groups[g].policy, may_repeat,
                                         [&](const Row& row) { duplicate(query, row, where(row)); });
      measure(plan_->groups[g], ranked, own, out);
      if (g == 0) {
        query_counts = counts(ranked);
        query_counts.repeated = static_cast<uint32_t>(before - ranker_.distinct());
      }
      if (plan_->lists) add_to(list, g, ranked, own);
    }
    if (plan_->lists) plan_->lists->keep(static_cast<size_t>(&query - &(*qrels_)[0]), std::move(list));
    query_counts.ranks = ranks;
    return query_counts;
  }

  /// A query missing from the run: an empty list or, depending on the policy, no value.
  void measure_missing(const QueryJudgments& query, double* out);

 private:
  /// Replaces ranks by scores that order documents in the same way.
  template <class Where>
  RankFacts ranks_to_scores(const QueryJudgments& query, std::vector<Row>& rows, Where&& where) {
    uint32_t bad = 0;
    for (const Row& row : rows)
      if (!is_rank(row.score)) {
        if (!plan_->skip_bad) bad_rank(query, row, where(row));
        ++bad;
      }
    if (bad) std::erase_if(rows, [](const Row& row) { return !is_rank(row.score); });
    RankFacts facts = rank_facts(rows);
    facts.bad = bad;
    for (Row& row : rows) row.score = -row.score;
    return facts;
  }
  static bool is_rank(double value) { return value >= 0 && value == std::floor(value); }
  RankFacts rank_facts(const std::vector<Row>& rows);
  [[noreturn]] static void bad_rank(const QueryJudgments& query, const Row& row, std::string where);
  [[noreturn]] static void duplicate(const QueryJudgments& query, const Row& row, std::string where);
  static QueryCounts counts(const Ranked& ranked);
  void measure(const Plan::Group& group, const Ranked& ranked, const std::vector<Row>& rows, double* out);
  /// The top ranks in the order of the first group, and their contributions to the measures of each group.
  void add_to(TopList& list, size_t group, const Ranked& ranked, const std::vector<Row>& rows);

  const Qrels* qrels_ = nullptr;
  const Plan* plan_ = nullptr;
  Ranker ranker_;
  std::vector<Row> copy_;
  std::vector<double> gains_, ranks_;
  uint64_t measured_ = 0;  // values so far
};

/// Scores without values, to be filled in.
Scores empty_scores(std::shared_ptr<const Qrels> qrels, const Plan& plan);
/// The last step, once all queries of the run are measured: counts duplicate documents as bad rows with `skip_bad`,
/// raises an error if no query is in common, and fills in the queries missing from the run.
Scores complete(Scores scores, const Plan& plan, const std::string& run_name);
/// The kind of a table's ids, with an example for messages.
struct IdSample {
  IdKind kind;
  std::string example;
};
/// Raises an error if ids differ in type (1 and "1"), rather than silently matching nothing.
void require_same_kinds(const Qrels& qrels, IdSample queries, IdSample docs, const std::string& run_name);

/// What an evaluation may use.
struct Resources {
  static constexpr size_t usual_memory = size_t{1} << 30;
  unsigned threads = 1;
  size_t memory = usual_memory;  // in bytes, for rows; judgments and values come on top
};

}  // namespace gg
