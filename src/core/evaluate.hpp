// From runs to numbers: every judged query of a run, ranked and measured, on all threads.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "error.hpp"
#include "lines.hpp"
#include "qrels.hpp"
#include "ranking.hpp"
#include "spec.hpp"
#include "top_lists.hpp"

namespace gg {

/// A measure written by the user: the gains in rank order (NaN for unjudged) to a number.
using CustomMeasure = std::function<double(const QueryJudgments&, const std::vector<double>&)>;

/// What is asked, compiled once and used for any number of runs.
struct Plan {
  std::vector<Spec> measures;          // a measure without a kernel is the custom one of the same place
  std::vector<CustomMeasure> customs;  // beside `measures`; empty where there is a kernel
  Policy policy;
  /// Measures that see the list by one policy; together all of them. Other tools' conventions differ by measure.
  struct Group {
    Policy policy;
    std::vector<uint32_t> measures;
  };
  std::vector<Group> groups;
  bool has_customs = false;
  bool may_be_disjoint = false;  // a run without any judged query is no error
  TopLists* lists = nullptr;     // where the first ranks of every query are kept, if someone wants them
  bool skip_bad = false;         // bad rows are left out and counted; of a document twice the first stays
  bool repeats_are_bad = false;  // with skip_bad: the policy calls a document twice an error

  /// Puts the next measure into the group of its policy.
  void group_next(const Policy& of_measure);

  /// Numbers a query has: one a measure, and with bounds the lower and upper ones after them.
  size_t width() const { return measures.size() * (policy.bounds() ? 3 : 1); }
};

/// What one query gave besides its measures.
struct QueryCounts {
  uint32_t retrieved = 0, unjudged = 0, top = 0, top_judged = 0;  // top: of the first ten
  uint32_t repeated = 0;  // rows left out because their document stood there before
};

/// Rows that were left out because they cannot be used, and why the first of them cannot.
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

/// An error as one line: what is wrong, and where.
std::string as_example(const Error& error);

/// The values of one run, query by query in the order of the qrels.
struct Scores {
  std::shared_ptr<const Qrels> qrels;
  size_t width = 0;
  std::vector<double> values;          // queries x width
  std::vector<QueryCounts> counts;     // beside the queries
  std::vector<uint8_t> in_run;         // whether the run has the query
  uint64_t unjudged_queries = 0;       // queries of the run that have no judgements
  std::string unjudged_example;
  uint64_t documents = 0;              // lines of the run, judged query or not
  BadRows bad;                         // only where the plan skips them
};

/// Measures one query after another; one per thread.
class Worker {
 public:
  Worker(const Qrels& qrels, const Plan& plan) : qrels_(&qrels), plan_(plan) {}

  /// The same with other judgements, where each query brings its own.
  void judge_by(const Qrels& qrels) { qrels_ = &qrels; }

  /// Takes the rows of a whole query and writes `plan.width()` numbers. `where` tells a repeated document's place.
  template <class Where>
  QueryCounts measure(const QueryJudgments& query, std::vector<Row>& rows, bool may_repeat, double* out, Where&& where) {
    QueryCounts found;
    TopList list;
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      const bool last = g + 1 == plan_.groups.size();
      if (!last) kept_ = rows;  // ranking changes the rows
      std::vector<Row>& own = last ? rows : kept_;
      const size_t before = own.size();
      const Ranked ranked = ranker_.rank(*qrels_, query, own, plan_.groups[g].policy, may_repeat,
                                         [&](const Row& row) { duplicate(query, row, where(row)); });
      measure(plan_.groups[g], ranked, own, out);
      if (g == 0) {
        found = counts(ranked);
        found.repeated = static_cast<uint32_t>(before - ranker_.distinct());
      }
      if (plan_.lists) add_to(list, g, ranked, own);
    }
    if (plan_.lists) plan_.lists->keep(static_cast<size_t>(&query - &(*qrels_)[0]), std::move(list));
    return found;
  }

  /// A query that the run lacks: a list without documents, or, by policy, no value.
  void measure_missing(const QueryJudgments& query, double* out);

 private:
  [[noreturn]] static void duplicate(const QueryJudgments& query, const Row& row, std::string where);
  static QueryCounts counts(const Ranked& ranked);
  void measure(const Plan::Group& group, const Ranked& ranked, const std::vector<Row>& rows, double* out);
  /// The first ranks as the first group orders them, and what they add to the measures of each group.
  void add_to(TopList& list, size_t group, const Ranked& ranked, const std::vector<Row>& rows);

  const Qrels* qrels_;
  const Plan& plan_;
  Ranker ranker_;
  std::vector<Row> kept_;
  std::vector<double> gains_;
};

/// Empty scores for a run, to be filled.
Scores empty_scores(std::shared_ptr<const Qrels> qrels, const Plan& plan);
/// Queries that the run lacks get the value of an empty list, or none, as the policy says.
void fill_missing(Scores& scores, const Plan& plan);
/// With `skip_bad`: counts documents that came twice among the bad rows.
void count_repeats(Scores& scores, const Plan& plan);
/// No query in common is an error that shows an id of each side.
void require_common_queries(const Scores& scores, const Plan& plan, const std::string& run_name);
/// The kind of a table's ids, and one of them as it is shown.
struct IdSample {
  IdKind kind;
  std::string example;
};
/// Ids that differ only by their type are an error, not a mismatch in silence.
void require_same_kinds(const Qrels& qrels, IdSample queries, IdSample docs, const std::string& run_name);

/// How the lines of a file are read.
struct LineFormat {
  enum class Kind { trec, delimited, json } kind = Kind::trec;
  char delimiter = ',';
  bool quotes = false;
  Columns columns;
  ColumnNames keys;
  size_t skip = 0;  // bytes before the first line: the header
  bool as_trec_eval = false;
};

Scores evaluate_file(std::shared_ptr<const Qrels> qrels, const MappedFile& file, const LineFormat& format,
                     const Plan& plan, unsigned threads);

std::unique_ptr<Qrels> read_qrels(const MappedFile& file, const LineFormat& format);

/// Calls `row(line)` for every line of a run, in order; for tables and conversion.
void for_each_line(const MappedFile& file, const LineFormat& format, Table table,
                   const std::function<void(const Line&, uint64_t place)>& row);

/// Runs `work(i)` for i in [0, n) on up to `threads` threads; the first exception is thrown again.
void in_parallel(size_t n, unsigned threads, const std::function<void(size_t)>& work);

}  // namespace gg
