// Code shared by the families of kernels, and their tables for `kernels()`.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "kernels.hpp"

namespace gg {

std::span<const Kernel> gain_kernels();
std::span<const Kernel> binary_kernels();
std::span<const Kernel> novelty_kernels();
std::span<const Kernel> loss_kernels();
std::span<const Kernel> coverage_kernels();
std::span<const Kernel> trec_eval_kernels();
std::span<const Kernel> cwl_kernels();

/// Bounds over unjudged documents for DR, Diversity and the measures over a greedy ideal list; null for others.
UnjudgedSearch novelty_unjudged_bounds(std::string_view kernel);

inline double is_relevant(const Ranked& r, const Hit& h, const Spec& s) { return relevant(r, h, s); }
inline double unweighted(uint32_t, const Spec&) { return 1; }

/// The number of relevant documents among the judged ones; a negative grade is not judged, whatever the level.
inline uint32_t relevant_judged(const Ranked& r, const Spec& s) {
  return r.query->count_at_least(std::max(s.rel, 0.0));
}

/// A measure that sums worth(document) x weight(rank).
template <class Worth, class Weight>
double linear(const Ranked& r, const Spec& s, Worth&& worth, Weight&& weight) {
  const uint32_t k = depth(r, s);
  double sum = 0;
  for (const Hit& hit : r.hits) {
    if (hit.rank > k) break;
    sum += worth(r, hit, s) * weight(hit.rank, s);
  }
  return sum;
}

/// Its mean over the orders of tied documents: each document is equally often at each rank of its block.
template <class Worth, class Weight>
double expected_linear(const Ranked& r, const Spec& s, Worth&& worth, Weight&& weight) {
  const uint32_t k = depth(r, s);
  double sum = 0;
  for (const Block& block : r.blocks) {
    if (block.first > k) break;
    double weights = 0;
    for (uint32_t j = 0; j < block.size && block.first + j <= k; ++j) weights += weight(block.first + j, s);
    double worths = 0;
    for (uint32_t h = block.begin; h < block.end; ++h) worths += worth(r, r.hits[h], s);
    sum += worths * weights / block.size;
  }
  return sum;
}

/// mean[j]: the mean product of factors over all sets of j out of `total` documents.
/// Documents not listed in `factors` have the factor 1.
void mean_product_of_draws(std::span<const double> factors, uint32_t total, std::vector<double>& mean);

/// The extremes of a measure that never falls when a better document moves up.
Interval sorted_tie_bounds(const Ranked& r, const Spec& s, double (*point)(const Ranked&, const Spec&));

/// The probability that none of `marked` documents is among the first `drawn` of `total` in random order.
inline double chance_of_none(uint32_t total, uint32_t marked, uint32_t drawn) {
  if (marked == 0) return 1;
  if (drawn + marked > total) return 0;
  double chance = 1;
  for (uint32_t i = 0; i < drawn; ++i)
    chance *= static_cast<double>(total - marked - i) / static_cast<double>(total - i);
  return chance;
}

/// The probabilities that `drawn` of `total` documents include 0, 1, ..., `marked` of the marked ones.
std::vector<double> hypergeometric(uint32_t total, uint32_t marked, uint32_t drawn);

inline uint32_t relevant_in(const Ranked& r, const Block& block, const Spec& s) {
  uint32_t n = 0;
  for (uint32_t h = block.begin; h < block.end; ++h) n += relevant(r, r.hits[h], s);
  return n;
}

/// The extremes over all orders of documents of several kinds: `sizes[kind]` of each, at ranks from `first`.
/// `place(kind, used, rank)` is the contribution of a document with `used[kind]` of each kind above it. NaN if
/// there are too many orders to try.
template <class Place>
Interval search_orders(const std::vector<uint32_t>& sizes, uint32_t first, Place&& place) {
  std::vector<size_t> stride(sizes.size());
  double states = 1;
  for (size_t kind = 0; kind < sizes.size(); ++kind) {
    stride[kind] = static_cast<size_t>(states);
    states *= sizes[kind] + 1.0;
    if (states > search_limit) return {undefined, undefined};
  }
  std::vector<Interval> rest(static_cast<size_t>(states),
                             Interval{0, 0});  // the sum of the contributions still to come
  std::vector<uint32_t> used(sizes.size());
  for (size_t state = rest.size() - 1; state-- > 0;) {
    uint32_t rank = first;
    for (size_t kind = 0, left = state; kind < sizes.size(); ++kind) {
      used[kind] = static_cast<uint32_t>(left % (sizes[kind] + 1));
      left /= sizes[kind] + 1;
      rank += used[kind];
    }
    Interval here{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    for (size_t kind = 0; kind < sizes.size(); ++kind) {
      if (used[kind] == sizes[kind]) continue;
      const double added = place(kind, used, rank);
      const Interval& next = rest[state + stride[kind]];
      here.lower = std::min(here.lower, next.lower + added);
      here.upper = std::max(here.upper, next.upper + added);
    }
    rest[state] = here;
  }
  return rest[0];
}

}  // namespace gg
