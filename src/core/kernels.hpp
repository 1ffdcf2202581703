// The measures. A kernel turns one query's ranking into a number; the table `kernels()` is the only list.
#pragma once
#include <cmath>
#include <span>
#include <string_view>

#include "ranking.hpp"
#include "spec.hpp"

namespace gg {

/// How the extremes over the orders of tied documents are found.
enum class TieBounds {
  sorted,  // exchanging two documents so that the better one comes first never lowers the measure
  search,  // all orders, told apart by kinds of documents
  fixed,   // the order does not matter
};

/// How the extremes over the unknown gains of unjudged documents are found.
enum class UnjudgedBounds {
  refuse,  // no exact answer is known
  fixed,   // the gains do not matter
  all,     // nothing relevant, or all of the highest gain
  scan,    // relevant ones add to the denominator too: try every number of them
  layers,  // nDCG: grade by grade
};

struct Interval {
  double lower, upper;
};

struct Kernel {
  std::string_view name;
  /// The value in the given order.
  double (*point)(const Ranked&, const Spec&);
  /// The mean over all orders of tied documents.
  double (*expected)(const Ranked&, const Spec&);
  TieBounds tie_bounds;
  UnjudgedBounds unjudged_bounds;
  /// For TieBounds::search: the extremes, NaN where they are too many to try.
  Interval (*search)(const Ranked&, const Spec&) = nullptr;
};

std::span<const Kernel> kernels();
const Kernel* find_kernel(std::string_view name);

/// The minimum and maximum over all orders of tied documents.
Interval tie_bounds(const Ranked& ranked, const Spec& spec);

/// The minimum and maximum over all gains (0 to the highest judged) of the unjudged documents
/// retrieved. `ranked.hits` must be in rank order.
Interval unjudged_bounds(const Ranked& ranked, const Spec& spec);

// --- shared by the families of kernels ---

/// log2(rank + 1), from a table for the ranks that matter.
double log2_rank(uint32_t rank);

inline double gain_of(const Ranked& r, const Hit& hit) { return r.query->gains[hit.judgment]; }

inline bool relevant(const Ranked& r, const Hit& hit, const Spec& s) { return gain_of(r, hit) >= s.rel; }

/// How deep a measure looks: its cut-off, or the whole list.
inline uint32_t depth(const Ranked& r, const Spec& s) { return s.cutoff ? s.cutoff : r.retrieved; }

/// The gain of a judged document as nDCG and its kin count it: negative is nothing.
inline double graded(double gain, const Spec& s) {
  if (gain <= 0 || gain < s.min_gain) return 0;
  return s.exp_gain ? std::exp2(gain) - 1 : gain;
}

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

/// More states than this are not searched: the value is then undefined.
constexpr double search_limit = 2e6;

}  // namespace gg
