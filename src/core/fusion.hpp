// Run fusion: several rankings of one query combined into one.
//
// Every method has three steps: normalise the scores of a run, replace them by points that depend on the rank, and
// combine the points of a document over the runs. Only Condorcet is a vote.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "qrels.hpp"

namespace gg {

/// A document of a ranking; the run owns the bytes.
struct Placed {
  Bytes doc;
  double score;
};
using Ranking = std::vector<Placed>;  // score descending, then document id descending

/// A run with every query ranked.
class RankedRun {
 public:
  explicit RankedRun(std::string name) : name_(std::move(name)) {}
  void add(Bytes query, Bytes doc, double score);
  /// Ranks all queries; raises an error on duplicate documents.
  void finish();

  const IdTable& queries() const { return queries_; }
  /// The ranking of a query; empty if the run does not have it.
  const Ranking& of(Bytes query) const;
  /// The run's own copy of a document id; no data if it does not have the document.
  Bytes own_id(Bytes doc) const;
  /// For each judged query of the run: 1 at each rank with a relevant document, else 0.
  std::vector<std::vector<uint8_t>> hits(const Qrels& qrels, double rel) const;

 private:
  std::string name_;
  IdTable queries_, docs_;
  std::vector<Ranking> rankings_;
};

enum class Norm { none, min_max, min_max_inverted, max, sum, zmuv, rank, borda };
enum class Points {
  score,
  inverse_square,
  reciprocal,
  geometric,
  table,
  segments,
  segments_times_score,
  window,
  inverse,
  borda
};
enum class Combine {
  sum,
  min,
  max,
  median,
  mean,
  times_count,
  times_log_count,
  times_weight,
  times_root_count,
  condorcet
};

struct Fusion {
  Norm norm = Norm::none;
  Points points = Points::score;
  Combine combine = Combine::sum;
  double parameter = 0;                     // k of rrf, phi of rbc, the window of slidefuse
  double exponent = 1;                      // of the count, for gmnz
  double log_shift = 0;                     // added to the count before taking its logarithm
  double absent = 0;                        // points for a document that a run does not have
  std::vector<double> weights;              // one per run
  std::vector<std::vector<double>> tables;  // points by rank or by segment, one table per run
};

struct Fused {
  Bytes query;
  Ranking ranking;
};

/// One ranking for every query of any run, in order of first appearance.
std::vector<Fused> fuse(const std::vector<std::shared_ptr<const RankedRun>>& runs, const Fusion& how, unsigned threads);

}  // namespace gg
