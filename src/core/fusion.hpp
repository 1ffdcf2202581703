// Run fusion: several rankings of one query made into one.
//
// Every method is three steps: normalise the scores of a run, replace them by points that depend on the rank, and
// combine what the runs give a document. Condorcet alone is a vote.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "qrels.hpp"

namespace gg {

/// A document of a ranking; the bytes belong to the run.
struct Placed {
  Bytes doc;
  double score;
};
using Ranking = std::vector<Placed>;  // score descending, then document id descending

/// A run with every query in its order.
class RankedRun {
 public:
  explicit RankedRun(std::string name) : name_(std::move(name)) {}
  void add(Bytes query, Bytes doc, double score);
  /// Ranks all queries; a document twice, or a score that is no number, is an error.
  void finish();

  const IdTable& queries() const { return queries_; }
  /// The ranking of a query; empty where the run lacks it.
  const Ranking& of(Bytes query) const;
  /// The run's own bytes of a document, or none.
  Bytes kept(Bytes doc) const;
  /// For each query of the judgements that the run has: 1 where the document at a rank is relevant, else 0.
  std::vector<std::vector<uint8_t>> hits(const Qrels& qrels, double rel) const;

 private:
  std::string name_;
  IdTable queries_, docs_;
  std::vector<Ranking> rankings_;
};

enum class Norm { none, min_max, min_max_inverted, max, sum, zmuv, rank, borda };
enum class Points { score, inverse_square, reciprocal, geometric, table, segments, segments_times_score, window, inverse, borda };
enum class Combine { sum, min, max, median, mean, times_count, times_log_count, times_weight, times_root_count, condorcet };

struct Fusion {
  Norm norm = Norm::none;
  Points points = Points::score;
  Combine combine = Combine::sum;
  double parameter = 0;                     // k of rrf, phi of rbc, the window of slidefuse
  double exponent = 1;                      // of the count, for gmnz
  double log_shift = 0;                     // what is added to the count before its logarithm
  double absent = 0;                        // what a run gives a document that it does not have
  std::vector<double> weights;              // one a run
  std::vector<std::vector<double>> tables;  // points by rank or by segment, one table a run
};

struct Fused {
  Bytes query;
  Ranking ranking;
};

/// One ranking for every query that any run has, in the order of their first appearance.
std::vector<Fused> fuse(const std::vector<std::shared_ptr<const RankedRun>>& runs, const Fusion& how, unsigned threads);

}  // namespace gg
