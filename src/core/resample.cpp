#include "resample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "evaluate.hpp"
#include "wide.hpp"

namespace gg {
namespace {

constexpr uint64_t golden = 0x9E3779B97F4A7C15;

/// The finaliser of SplitMix64 (Steele, Lea & Flood 2014).
uint64_t mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// The random words of one replicate, by their place.
class Words {
 public:
  Words(uint64_t seed, uint64_t replicate) : key_(mixed(mixed(seed + golden) + (replicate + 1) * 0xD1342543DE82EF95)) {}
  uint64_t operator[](uint64_t place) const { return mixed(key_ + (place + 1) * golden); }

 private:
  uint64_t key_;
};

/// An integer below n; the bias is below n / 2^64.
size_t below(uint64_t word, size_t n) { return static_cast<size_t>(high_half(word, n)); }

constexpr size_t replicates_a_task = 1024;
constexpr size_t bits = 8;  // queries whose signs are looked up at once
constexpr size_t patterns = size_t{1} << bits;

/// For each group of eight queries and each pattern of their signs, the signed sum of every measure.
std::vector<double> sum_table(const Differences& d, size_t groups) {
  const size_t m = d.measures;
  std::vector<double> table(groups * patterns * m, 0.0);
  for (size_t g = 0; g < groups; ++g) {
    double* rows = table.data() + g * patterns * m;
    for (size_t pattern = 0; pattern < patterns; ++pattern)
      for (size_t b = 0; b < bits; ++b) {
        const size_t query = g * bits + b;
        if (query >= d.queries) break;
        for (size_t i = 0; i < m; ++i) {
          const double value = d.values[query * m + i];
          rows[pattern * m + i] += (pattern >> b) & 1 ? -value : value;
        }
      }
  }
  return table;
}

struct Observed {
  double sum, slack;  // sums within the slack count as ties, so that rounding does not decide
};

std::vector<Observed> observed(const Differences& d) {
  std::vector<Observed> sums;
  for (size_t i = 0; i < d.measures; ++i) {
    double sum = 0, size = 0;
    for (size_t q = 0; q < d.queries; ++q) {
      sum += d.values[q * d.measures + i];
      size += std::abs(d.values[q * d.measures + i]);
    }
    sums.push_back({sum, 1e-12 * size});
  }
  return sums;
}

/// Counts of one task. They are integers, so the order of adding them up does not matter.
struct Tally {
  std::vector<uint64_t> at_least, at_most, as_extreme;
  explicit Tally(size_t m = 0) : at_least(m), at_most(m), as_extreme(m) {}
  void add(size_t i, double sum, const Observed& o) {
    at_least[i] += sum >= o.sum - o.slack;
    at_most[i] += sum <= o.sum + o.slack;
    as_extreme[i] += std::abs(sum) >= std::abs(o.sum) - o.slack;
  }
};

FlipCounts total_of(const std::vector<Tally>& tallies, size_t m, uint64_t total) {
  FlipCounts counts{std::vector<uint64_t>(m), std::vector<uint64_t>(m), std::vector<uint64_t>(m), total};
  for (const Tally& t : tallies)
    for (size_t i = 0; i < m; ++i) {
      counts.at_least[i] += t.at_least[i];
      counts.at_most[i] += t.at_most[i];
      counts.as_extreme[i] += t.as_extreme[i];
    }
  return counts;
}

/// Adds a row of the table to each replicate's sums; M is a constant so that the loop is unrolled.
template <size_t M>
void add_rows(const double* table, const std::vector<uint8_t>& pattern, double* sums) {
  for (size_t r = 0; r < pattern.size(); ++r) {
    const double* row = table + pattern[r] * M;
    for (size_t i = 0; i < M; ++i) sums[r * M + i] += row[i];
  }
}

void add_rows_any(const double* table, const std::vector<uint8_t>& pattern, double* sums, size_t m) {
  switch (m) {
    case 1: return add_rows<1>(table, pattern, sums);
    case 2: return add_rows<2>(table, pattern, sums);
    case 3: return add_rows<3>(table, pattern, sums);
    case 4: return add_rows<4>(table, pattern, sums);
    case 5: return add_rows<5>(table, pattern, sums);
    case 6: return add_rows<6>(table, pattern, sums);
  }
  for (size_t r = 0; r < pattern.size(); ++r) {
    const double* row = table + pattern[r] * m;
    for (size_t i = 0; i < m; ++i) sums[r * m + i] += row[i];
  }
}

size_t tasks_for(uint64_t replicates) {
  return static_cast<size_t>((replicates + replicates_a_task - 1) / replicates_a_task);
}

/// Calls `work(task, first, count)` for every task.
template <class Work>
void for_tasks(uint64_t replicates, unsigned threads, Work&& work) {
  in_parallel(tasks_for(replicates), threads, [&](size_t task) {
    const uint64_t first = task * replicates_a_task;
    work(task, first, static_cast<size_t>(std::min<uint64_t>(replicates_a_task, replicates - first)));
  });
}

/// The percentile of the values; reorders them.
double percentile_of(std::vector<double>& values, double percent) {
  const double place = static_cast<double>(values.size() - 1) * percent / 100;
  const auto lower = static_cast<size_t>(place);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(lower);
  std::nth_element(values.begin(), at, values.end());
  if (lower + 1 >= values.size()) return *at;
  const double next = *std::min_element(at + 1, values.end());
  return *at + (next - *at) * (place - static_cast<double>(lower));
}

}  // namespace

FlipCounts random_flips(const Differences& d, uint64_t replicates, uint64_t seed, unsigned threads) {
  const size_t m = d.measures, groups = (d.queries + bits - 1) / bits;
  const std::vector<double> table = sum_table(d, groups);
  const std::vector<Observed> observed_sums = observed(d);
  std::vector<Tally> tallies(tasks_for(replicates), Tally(m));
  for_tasks(replicates, threads, [&](size_t task, uint64_t first, size_t count) {
    std::vector<double> sums(count * m, 0.0);
    std::vector<uint64_t> signs(count);
    std::vector<uint8_t> pattern(count);
    for (size_t g = 0; g < groups; ++g) {
      pause_point();
      if (g % 8 == 0)
        for (size_t r = 0; r < count; ++r) signs[r] = Words(seed, first + r)[g / 8];
      else
        for (uint64_t& word : signs) word >>= bits;
      for (size_t r = 0; r < count; ++r) pattern[r] = static_cast<uint8_t>(signs[r]);
      add_rows_any(table.data() + g * patterns * m, pattern, sums.data(), m);
    }
    for (size_t r = 0; r < count; ++r)
      for (size_t i = 0; i < m; ++i) tallies[task].add(i, sums[r * m + i], observed_sums[i]);
  });
  return total_of(tallies, m, replicates);
}

FlipCounts all_flips(std::span<const double> differences, unsigned threads) {
  const Differences d{differences, differences.size(), 1};
  const size_t groups = (d.queries + bits - 1) / bits;
  const std::vector<double> table = sum_table(d, groups);
  const std::vector<Observed> observed_sums = observed(d);
  const uint64_t total = uint64_t{1} << d.queries;
  std::vector<Tally> tallies(tasks_for(total), Tally(1));
  for_tasks(total, threads, [&](size_t task, uint64_t first, size_t count) {
    for (size_t r = 0; r < count; ++r) {
      double sum = 0;
      for (size_t g = 0; g < groups; ++g) sum += table[g * patterns + (((first + r) >> (g * bits)) & (patterns - 1))];
      tallies[task].add(0, sum, observed_sums[0]);
    }
  });
  return total_of(tallies, 1, total);
}

std::vector<double> bootstrap_means(const Differences& d, uint64_t replicates, uint64_t seed, unsigned threads) {
  const size_t m = d.measures, n = d.queries;
  std::vector<double> means(replicates * m);
  for_tasks(replicates, threads, [&](size_t, uint64_t first, size_t count) {
    std::vector<double> sums(m);
    for (size_t r = 0; r < count; ++r) {
      if (r % 64 == 0) pause_point();
      const Words words(seed, first + r);
      std::fill(sums.begin(), sums.end(), 0.0);
      for (size_t place = 0; place < n; ++place) {
        const double* row = d.values.data() + below(words[place], n) * m;
        for (size_t i = 0; i < m; ++i) sums[i] += row[i];
      }
      for (size_t i = 0; i < m; ++i) means[(first + r) * m + i] = sums[i] / static_cast<double>(n);
    }
  });
  return means;
}

std::vector<double> percentile_differences(std::span<const double> a, std::span<const double> b, double percent,
                                           bool swap, uint64_t replicates, uint64_t seed, unsigned threads) {
  const size_t n = a.size();
  std::vector<double> differences(replicates);
  for_tasks(replicates, threads, [&](size_t, uint64_t first, size_t count) {
    std::vector<double> left(n), right(n);
    for (size_t r = 0; r < count; ++r) {
      if (r % 64 == 0) pause_point();
      const Words words(seed, first + r);
      for (size_t place = 0; place < n; ++place) {
        const size_t query = swap ? place : below(words[place], n);
        const bool turned = swap && (words[place / 64] >> (place % 64)) & 1;
        left[place] = turned ? b[query] : a[query];
        right[place] = turned ? a[query] : b[query];
      }
      const double from = percentile_of(left, percent);
      differences[first + r] = percentile_of(right, percent) - from;
    }
  });
  return differences;
}

}  // namespace gg
