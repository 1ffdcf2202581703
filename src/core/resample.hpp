// Resampling of paired differences: randomisation by sign flips, and the bootstrap.
//
// Every random word is a function of (seed, replicate, place) alone, so that a result has the same bits for any
// number of threads and any order of the work.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gg {

/// Differences of n queries x m measures, row by row.
struct Differences {
  std::span<const double> values;
  size_t queries = 0, measures = 0;
};

/// How many of the sums under sign flips are at least, at most, and in size at least the observed sum; one a measure.
struct FlipCounts {
  std::vector<uint64_t> at_least, at_most, as_extreme;
  uint64_t total = 0;  // sums that were looked at
};

/// `replicates` random assignments of signs; the same signs serve all measures.
FlipCounts random_flips(const Differences& d, uint64_t replicates, uint64_t seed, unsigned threads);
/// All 2^n assignments of signs to one column of differences; n at most 30.
FlipCounts all_flips(std::span<const double> differences, unsigned threads);

/// The means of `replicates` samples of n queries with replacement: replicates x measures.
std::vector<double> bootstrap_means(const Differences& d, uint64_t replicates, uint64_t seed, unsigned threads);

/// Percentile (0..100, linear between neighbours) of b minus that of a, in resamples of the pairs: queries drawn with
/// replacement, or with `swap` the two values of each query exchanged by a fair coin.
std::vector<double> percentile_differences(std::span<const double> a, std::span<const double> b, double percent,
                                           bool swap, uint64_t replicates, uint64_t seed, unsigned threads);

}  // namespace gg
