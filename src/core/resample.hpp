// Resampling of paired differences: randomisation by sign flips, and the bootstrap.
//
// Every random word depends only on (seed, replicate, place), so that results are bit-identical for any number of
// threads and any order of the work.
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

/// How many sums under sign flips are >=, <=, and in absolute value >= the observed sum; one count per measure.
struct FlipCounts {
  std::vector<uint64_t> at_least, at_most, as_extreme;
  uint64_t total = 0;  // number of sums
};

/// `replicates` random assignments of signs, shared by all measures.
FlipCounts random_flips(const Differences& d, uint64_t replicates, uint64_t seed, unsigned threads);
/// All 2^n assignments of signs to one column of differences; n at most 30.
FlipCounts all_flips(std::span<const double> differences, unsigned threads);

/// Means of `replicates` samples of n queries with replacement: replicates x measures.
std::vector<double> bootstrap_means(const Differences& d, uint64_t replicates, uint64_t seed, unsigned threads);

/// Percentile (0..100, linear interpolation) of b minus that of a over resamples of the pairs: queries drawn with
/// replacement or, with `swap`, the two values of each query exchanged by a fair coin.
std::vector<double> percentile_differences(std::span<const double> a, std::span<const double> b, double percent,
                                           bool swap, uint64_t replicates, uint64_t seed, unsigned threads);

}  // namespace gg
