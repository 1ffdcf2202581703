// Kernels turn one query's ranking into the value of a measure; `kernels()` is the only list of them.
#pragma once
#include <cmath>
#include <span>
#include <string_view>

#include "ranking.hpp"
#include "registry.hpp"
#include "spec.hpp"

namespace gg {

/// How to compute the extremes over the orders of tied documents.
enum class TieBounds {
  sorted,  // moving a better document ahead of a worse one never lowers the measure
  search,  // try all orders, treating documents of the same kind as equal
  fixed,   // the order does not matter
};

/// How to compute the extremes over the unknown gains of unjudged documents.
enum class UnjudgedBounds {
  refuse,  // no exact method is known
  fixed,   // the gains do not matter
  all,     // either none is relevant or all have the highest gain
  scan,    // relevant documents also raise the denominator: try every number of them
  layers,  // nDCG: grade by grade
};

struct Interval {
  double lower, upper;
};

/// The name of a kernel; one that the registry of measures does not know fails to compile.
struct KernelName {
  std::string_view text;

  consteval KernelName(const char* name) : text(name) {
    for (const std::string_view known : registry::kernels)
      if (known == text) return;
    throw "the registry of measures has no such kernel";
  }
  constexpr operator std::string_view() const { return text; }
  constexpr bool operator==(std::string_view other) const { return text == other; }
};

struct Kernel {
  KernelName name;
  /// The value for the order of the ranking.
  double (*point)(const Ranked&, const Spec&);
  /// The mean over all orders of tied documents.
  double (*expected)(const Ranked&, const Spec&);
  TieBounds tie_bounds;
  UnjudgedBounds unjudged_bounds;
  /// For TieBounds::search: the extremes; NaN if there are too many orders to try.
  Interval (*search)(const Ranked&, const Spec&) = nullptr;
};

using UnjudgedSearch = Interval (*)(const Ranked&, const Spec&);
/// How to find the extremes over unjudged documents for a kernel that needs a method of its own; null for others.
UnjudgedSearch exact_unjudged_bounds(std::string_view kernel);

std::span<const Kernel> kernels();
const Kernel* find_kernel(std::string_view name);

/// The minimum and maximum over all orders of tied documents.
Interval tie_bounds(const Ranked& ranked, const Spec& spec);

/// The minimum and maximum over all gains (0 to the highest judged) of the unjudged documents
/// retrieved. `ranked.hits` must be in rank order.
Interval unjudged_bounds(const Ranked& ranked, const Spec& spec);

// --- shared by the families of kernels ---

/// log2(rank + 1); low ranks come from a table.
double log2_rank(uint32_t rank);

inline double gain_of(const Ranked& r, const Hit& hit) { return r.query->gains[hit.judgment]; }

inline bool relevant(const Ranked& r, const Hit& hit, const Spec& s) { return gain_of(r, hit) >= s.rel; }

/// The depth of a measure: its cutoff, or the whole list.
inline uint32_t depth(const Ranked& r, const Spec& s) { return s.cutoff ? s.cutoff : r.retrieved; }

/// The gain of a judged document as nDCG and similar measures count it: negative gains count 0.
inline double graded(double gain, const Spec& s) {
  if (gain <= 0 || gain < s.min_gain) return 0;
  return s.exp_gain ? std::exp2(gain) - 1 : gain;
}

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

/// Searches with more states than this are not attempted: the value is undefined.
constexpr double search_limit = 2e6;

}  // namespace gg
