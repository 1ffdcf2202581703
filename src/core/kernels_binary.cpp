// Binary relevance: P, R, F, AP, RR, Hit, Rprec, IPrec, Bpref, infAP, sets, Compat, Accuracy.
#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "kernels_families.hpp"

namespace gg {

std::vector<double> hypergeometric(uint32_t total, uint32_t marked, uint32_t drawn) {
  std::vector<double> chance(marked + 1, 0.0);
  const uint32_t low = drawn + marked > total ? drawn + marked - total : 0;
  const uint32_t high = std::min(marked, drawn);
  const double n = total, m = marked, d = drawn;
  const auto mode = std::clamp(static_cast<uint32_t>((d + 1) * (m + 1) / (n + 2)), low, high);
  // Start at the most likely count, so that nothing underflows, then normalise.
  double sum = chance[mode] = 1;
  for (uint32_t x = mode; x < high; ++x)
    sum += chance[x + 1] = chance[x] * (m - x) * (d - x) / ((x + 1.0) * (n - m - d + x + 1));
  for (uint32_t x = mode; x > low; --x)
    sum += chance[x - 1] = chance[x] * x * (n - m - d + x) / ((m - x + 1) * (d - x + 1));
  for (double& c : chance) c /= sum;
  return chance;
}

namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// Relevant documents in the first k; the mean over tied orders is the same sum with fractions.
using Count = double (*)(const Ranked&, const Spec&);
double relevant_in_top(const Ranked& r, const Spec& s) { return linear(r, s, is_relevant, unweighted); }
double expected_relevant_in_top(const Ranked& r, const Spec& s) {
  return expected_linear(r, s, is_relevant, unweighted);
}

template <Count count>
double precision(const Ranked& r, const Spec& s) {
  return ratio(count(r, s), s.returned ? std::min(depth(r, s), r.retrieved) : depth(r, s));
}

template <Count count>
double recall(const Ranked& r, const Spec& s) {
  return ratio(count(r, s), relevant_judged(r, s));
}

template <Count count>
double capped_recall(const Ranked& r, const Spec& s) {
  return ratio(count(r, s), std::min(relevant_judged(r, s), depth(r, s)));
}

/// F = (1 + b^2) hits / (b^2 R + k), which is linear in the hits.
template <Count count>
double f_measure(const Ranked& r, const Spec& s) {
  const double b2 = s.beta * s.beta;
  const double hits = count(r, s);
  return hits > 0 ? (1 + b2) * hits / (b2 * relevant_judged(r, s) + depth(r, s)) : 0;
}

template <Count count>
double r_precision(const Ranked& r, const Spec& s) {
  Spec at = s;
  at.cutoff = relevant_judged(r, s);
  return at.cutoff ? count(r, at) / at.cutoff : 0;
}

/// Precision x recall of the whole list as a set.
double set_ap(const Ranked& r, const Spec& s) {
  const double hits = relevant_in_top(r, s);
  return ratio(hits * hits, static_cast<double>(r.retrieved) * relevant_judged(r, s));
}

// --- AP ---

double ap(const Ranked& r, const Spec& s) {
  const uint32_t all = relevant_judged(r, s), k = depth(r, s);
  if (all == 0) return 0;
  double sum = 0;
  uint32_t seen = 0;
  for (const Hit& hit : r.hits) {
    if (hit.rank > k) break;
    if (relevant(r, hit, s)) sum += static_cast<double>(++seen) / hit.rank;
  }
  return sum / all;
}

double expected_ap(const Ranked& r, const Spec& s) {
  const uint32_t all = relevant_judged(r, s), k = depth(r, s);
  if (all == 0) return 0;
  double sum = 0;
  uint32_t seen = 0;
  for (const Block& block : r.blocks) {
    if (block.first > k) break;
    const uint32_t m = relevant_in(r, block, s);
    const double others = block.size > 1 ? (m - 1.0) / (block.size - 1.0) : 0;
    for (uint32_t j = 0; m > 0 && j < block.size && block.first + j <= k; ++j)
      sum += static_cast<double>(m) / block.size * (seen + 1 + j * others) / (block.first + j);
    seen += m;
  }
  return sum / all;
}

// --- RR and Hit ---

double rr(const Ranked& r, const Spec& s) {
  const uint32_t k = depth(r, s);
  for (const Hit& hit : r.hits) {
    if (hit.rank > k) break;
    if (relevant(r, hit, s)) return 1.0 / hit.rank;
  }
  return 0;
}

double expected_rr(const Ranked& r, const Spec& s) {
  const uint32_t k = depth(r, s);
  for (const Block& block : r.blocks) {
    const uint32_t m = relevant_in(r, block, s);
    if (m == 0) continue;
    double sum = 0, none_before = 1;  // the first relevant document is at place j of the block
    for (uint32_t j = 0; j + m <= block.size && block.first + j <= k; ++j) {
      const double now = static_cast<double>(m) / (block.size - j);
      sum += none_before * now / (block.first + j);
      none_before *= 1 - now;
    }
    return sum;
  }
  return 0;
}

double hit(const Ranked& r, const Spec& s) { return rr(r, s) > 0; }

double expected_hit(const Ranked& r, const Spec& s) {
  const uint32_t k = depth(r, s);
  for (const Block& block : r.blocks) {
    if (block.first > k) break;
    const uint32_t m = relevant_in(r, block, s);
    if (m > 0) return 1 - chance_of_none(block.size, m, std::min(block.size, k - block.first + 1));
  }
  return 0;
}

// --- interpolated precision ---

/// The number of relevant documents that a recall point requires.
uint32_t required_at_recall(double recall, uint32_t all, const Spec& s) {
  return static_cast<uint32_t>(s.recall_ceil ? std::floor(recall * all + 0.9) : std::round(recall * all));
}

double interpolated_precision(const Ranked& r, const Spec& s, double recall_point) {
  const uint32_t required = required_at_recall(recall_point, relevant_judged(r, s), s);
  double best = 0;
  uint32_t seen = 0;
  for (const Hit& hit : r.hits)
    if (relevant(r, hit, s) && ++seen >= required) best = std::max(best, static_cast<double>(seen) / hit.rank);
  return best;
}

/// The mean of the largest precision: its distribution is the product over blocks of the probability that no
/// relevant document ranks high enough to exceed a bound, computed along the ranks of the block.
double expected_interpolated_precision(const Ranked& r, const Spec& s, double recall_point) {
  const uint32_t required = required_at_recall(recall_point, relevant_judged(r, s), s);
  struct TiedBlock {
    uint32_t first, size, relevant, before;
  };
  struct Fraction {
    uint64_t seen, rank;
    bool operator<(const Fraction& o) const { return seen * o.rank < o.seen * rank; }
  };
  std::vector<TiedBlock> tied_blocks;
  std::set<Fraction> values;
  uint32_t before = 0;
  double work = 0;
  for (const Block& block : r.blocks) {
    const uint32_t m = relevant_in(r, block, s);
    if (m == 0) continue;
    if (before + m >= required) {
      tied_blocks.push_back({block.first, block.size, m, before});
      work += static_cast<double>(block.size) * m;
      for (uint32_t l = 1; l <= m && work < 1e5; ++l)
        for (uint32_t j = l - 1; before + l >= required && j + (m - l) < block.size; ++j)
          values.insert({before + l, block.first + j});
    }
    before += m;
  }
  if (before < required || tied_blocks.empty()) return 0;
  if (work * static_cast<double>(values.size()) > 1e9 || work >= 1e5) return undefined;

  double mean = 0, below = 0;
  std::vector<double> chance;
  for (const Fraction& bound : values) {
    double all_below = 1;
    for (const TiedBlock& tied : tied_blocks) {
      chance.assign(tied.relevant + 1, 0.0);
      chance[0] = 1;
      for (uint32_t j = 0; j < tied.size; ++j)
        for (uint32_t placed = std::min(j, tied.relevant) + 1; placed-- > 0;) {
          const double here = static_cast<double>(tied.relevant - placed) / (tied.size - j);
          const uint64_t seen = tied.before + placed + 1;
          const bool allowed = seen < required || !(bound < Fraction{seen, tied.first + j});
          if (placed < tied.relevant && allowed) chance[placed + 1] += chance[placed] * here;
          chance[placed] *= 1 - here;
        }
      all_below *= chance[tied.relevant];
    }
    mean += (all_below - below) * static_cast<double>(bound.seen) / static_cast<double>(bound.rank);
    below = all_below;
  }
  return mean;
}

using Interpolated = double (*)(const Ranked&, const Spec&, double);

template <Interpolated at>
double iprec(const Ranked& r, const Spec& s) {
  return at(r, s, s.recall);
}

template <Interpolated at>
double ap11(const Ranked& r, const Spec& s) {
  constexpr double points[] = {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};
  double sum = 0;
  for (const double point : points) sum += at(r, s, point);
  return sum / 11;
}

// --- Bpref and infAP: judged and unjudged documents ---

bool judged_nonrelevant(double gain, const Spec& s) { return (gain >= 0 || s.negative_judged) && gain < s.rel; }

uint32_t judged_nonrelevant(const Ranked& r, const Spec& s, uint32_t all) {
  return (s.negative_judged ? static_cast<uint32_t>(r.query->gains.size()) : r.query->count_at_least(0)) - all;
}

bool any_relevant(const Ranked& r, const Spec& s) {
  return std::any_of(r.hits.begin(), r.hits.end(), [&](const Hit& hit) { return relevant(r, hit, s); });
}

double bpref_term(uint32_t nonrelevant_above, uint32_t all, uint32_t nonrelevant) {
  if (nonrelevant_above == 0) return 1;
  return 1 - static_cast<double>(std::min(nonrelevant_above, all)) / std::min(all, nonrelevant);
}

/// `sum(all, nonrelevant)` is the sum of the terms, for the numbers of judged relevant and nonrelevant documents.
template <class Sum>
double bpref_of(const Ranked& r, const Spec& s, Sum&& sum) {
  const uint32_t all = relevant_judged(r, s);
  const uint32_t nonrelevant = judged_nonrelevant(r, s, all);
  if (all == 0) return 0;
  if (s.negative_judged && nonrelevant == 0) return any_relevant(r, s) ? undefined : 0;  // 0 / 0
  return sum(all, nonrelevant) / all;
}

double bpref(const Ranked& r, const Spec& s) {
  return bpref_of(r, s, [&](uint32_t all, uint32_t nonrelevant) {
    double sum = 0;
    uint32_t above = 0;
    for (const Hit& hit : r.hits) {
      if (relevant(r, hit, s)) sum += bpref_term(above, all, nonrelevant);
      else if (judged_nonrelevant(gain_of(r, hit), s)) ++above;
    }
    return sum;
  });
}

/// Among the nonrelevant documents of its block a relevant one takes each place equally often.
double expected_bpref(const Ranked& r, const Spec& s) {
  return bpref_of(r, s, [&](uint32_t all, uint32_t nonrelevant) {
    double sum = 0;
    uint32_t above = 0;
    for (const Block& block : r.blocks) {
      uint32_t tied = 0;
      for (uint32_t h = block.begin; h < block.end; ++h) tied += judged_nonrelevant(gain_of(r, r.hits[h]), s);
      double mean = 0;
      for (uint32_t i = 0; i <= tied; ++i) mean += bpref_term(above + i, all, nonrelevant);
      sum += relevant_in(r, block, s) * mean / (tied + 1);
      above += tied;
    }
    return sum;
  });
}

/// The documents above a rank, by their judgments.
struct Above {
  double relevant = 0, nonrelevant = 0, pooled = 0;  // pooled: listed with a negative grade, not judged
};

double infap_term(uint32_t rank, const Above& above) {
  constexpr double epsilon = 0.00001;
  if (rank == 1) return 1;
  const double judged = above.relevant + above.nonrelevant;
  return 1.0 / rank + (judged + above.pooled) / rank * (above.relevant + epsilon) / (judged + 2 * epsilon);
}

double infap(const Ranked& r, const Spec& s) {
  const uint32_t all = relevant_judged(r, s);
  if (all == 0) return 0;
  double sum = 0;
  Above above;
  for (const Hit& hit : r.hits) {
    const double gain = gain_of(r, hit);
    if (gain >= s.rel) {
      sum += infap_term(hit.rank, above);
      ++above.relevant;
    } else {
      ++(gain < 0 ? above.pooled : above.nonrelevant);
    }
  }
  return sum / all;
}

struct InfApKinds {
  uint32_t relevant = 0, nonrelevant = 0, pooled = 0, unlisted = 0;
};

InfApKinds infap_kinds(const Ranked& r, const Block& block, const Spec& s) {
  InfApKinds n;
  for (uint32_t h = block.begin; h < block.end; ++h) {
    const double gain = gain_of(r, r.hits[h]);
    ++(gain >= s.rel ? n.relevant : gain < 0 ? n.pooled : n.nonrelevant);
  }
  n.unlisted = block.size - (block.end - block.begin);
  return n;
}

/// A relevant document at place j of its block has `a` of the other relevant and `b` of the nonrelevant ones above it
/// with hypergeometric probability; the pooled ones enter linearly, through their mean.
double expected_infap(const Ranked& r, const Spec& s) {
  const uint32_t all = relevant_judged(r, s);
  if (all == 0) return 0;
  double sum = 0;
  Above above;
  for (const Block& block : r.blocks) {
    const InfApKinds n = infap_kinds(r, block, s);
    const uint32_t others = block.size - n.relevant - n.nonrelevant;
    if (static_cast<double>(block.size) * n.relevant * (n.nonrelevant + 1) > 1e8) return undefined;
    for (uint32_t j = 0; n.relevant > 0 && j < block.size; ++j) {
      const auto chance_a = hypergeometric(block.size - 1, n.relevant - 1, j);
      double mean = 0;
      for (uint32_t a = 0; a < chance_a.size(); ++a) {
        if (chance_a[a] == 0) continue;
        const auto chance_b = hypergeometric(block.size - n.relevant, n.nonrelevant, j - a);
        for (uint32_t b = 0; b < chance_b.size(); ++b) {
          if (chance_b[b] == 0) continue;
          const double pooled = others ? static_cast<double>(j - a - b) * n.pooled / others : 0;
          mean += chance_a[a] * chance_b[b] *
                  infap_term(block.first + j, {above.relevant + a, above.nonrelevant + b, above.pooled + pooled});
        }
      }
      sum += mean * n.relevant / block.size;
    }
    above.relevant += n.relevant;
    above.nonrelevant += n.nonrelevant;
    above.pooled += n.pooled;
  }
  return sum / all;
}

/// The extremes of infAP: every order of the four kinds of documents in a block.
Interval search_infap(const Ranked& r, const Spec& s) {
  const uint32_t all = relevant_judged(r, s);
  if (all == 0) return {0, 0};
  Interval sum{0, 0};
  Above above;
  for (const Block& block : r.blocks) {
    const InfApKinds n = infap_kinds(r, block, s);
    const Interval added = search_orders(
        {n.relevant, n.nonrelevant, n.pooled, n.unlisted}, block.first,
        [&](size_t kind, const std::vector<uint32_t>& used, uint32_t rank) {
          return kind == 0
                     ? infap_term(rank, {above.relevant + used[0], above.nonrelevant + used[1], above.pooled + used[2]})
                     : 0;
        });
    sum.lower += added.lower;
    sum.upper += added.upper;
    above.relevant += n.relevant;
    above.nonrelevant += n.nonrelevant;
    above.pooled += n.pooled;
  }
  return {sum.lower / all, sum.upper / all};
}

// --- Compat: rank-biased overlap with the nearest ideal list ---

/// The judged grades above 0, best first, with the number of documents of each.
struct Grade {
  double gain;
  uint32_t judged;
};

std::vector<Grade> positive_grades(const QueryJudgments& q) {
  std::vector<Grade> grades;
  for (const double gain : q.gains_sorted) {
    if (gain <= 0) break;
    if (grades.empty() || grades.back().gain != gain) grades.push_back({gain, 0});
    ++grades.back().judged;
  }
  return grades;
}

/// `overlap(d)`: documents shared by the first d of the run and the first d of the ideal list. Within a grade the ideal
/// list follows the order of the run, so a grade that d divides shares the smaller of the two counts.
template <class Overlap>
double rank_biased(const Spec& s, uint32_t depth, Overlap&& overlap) {
  double sum = 0, weight = 1;
  for (uint32_t d = 1; d <= depth; ++d, weight *= s.p) sum += weight * overlap(d) / d;
  return sum;
}

uint32_t ideal_length(const std::vector<Grade>& grades) {
  uint32_t all = 0;
  for (const Grade& level : grades) all += level.judged;
  return all;
}

uint32_t overlap_depth(const Ranked& r, const Spec& s, const std::vector<Grade>& grades) {
  return s.overlap_depth > 0 ? static_cast<uint32_t>(s.overlap_depth) : std::max(r.retrieved, ideal_length(grades));
}

double sum_of_weights(const Spec& s, uint32_t depth) {
  return rank_biased(s, depth, [](uint32_t d) { return static_cast<double>(d); });
}

double ideal_overlap(const std::vector<Grade>& grades, const Spec& s, uint32_t depth) {
  const uint32_t all = ideal_length(grades);
  return rank_biased(s, depth, [all](uint32_t d) { return static_cast<double>(std::min(d, all)); });
}

/// The documents that the first d share with the ideal list, given the number seen of each grade.
double shared_with_ideal(const std::vector<Grade>& grades, const std::vector<uint32_t>& seen, uint32_t d) {
  uint32_t shared = 0, before = 0;
  for (size_t l = 0; l < grades.size() && before < d; before += grades[l++].judged)
    shared += std::min(seen[l], d - before);
  return shared;
}

size_t grade_index(const std::vector<Grade>& grades, double gain) {
  size_t l = 0;
  while (l < grades.size() && grades[l].gain != gain) ++l;
  return l;
}

double compat(const Ranked& r, const Spec& s) {
  const auto grades = positive_grades(*r.query);
  if (grades.empty()) return 0;
  std::vector<uint32_t> seen(grades.size() + 1, 0);
  size_t next = 0;
  const uint32_t depth = overlap_depth(r, s, grades);
  const double overlap = rank_biased(s, depth, [&](uint32_t d) {
    for (; next < r.hits.size() && r.hits[next].rank <= d; ++next)
      ++seen[grade_index(grades, gain_of(r, r.hits[next]))];
    return shared_with_ideal(grades, seen, d);
  });
  return overlap / (s.normalise ? ideal_overlap(grades, s, depth) : sum_of_weights(s, depth));
}

double expected_compat(const Ranked& r, const Spec& s) {
  const auto grades = positive_grades(*r.query);
  if (grades.empty()) return 0;
  std::vector<uint32_t> seen(grades.size() + 1, 0), tied(grades.size() + 1, 0);
  size_t next = 0;  // the block that contains d, or the next one
  const uint32_t depth = overlap_depth(r, s, grades);
  const double overlap = rank_biased(s, depth, [&](uint32_t d) {
    while (next < r.blocks.size() && r.blocks[next].first + r.blocks[next].size <= d) {
      const Block& block = r.blocks[next++];
      for (uint32_t h = block.begin; h < block.end; ++h) ++seen[grade_index(grades, gain_of(r, r.hits[h]))];
    }
    if (next == r.blocks.size() || r.blocks[next].first > d) return shared_with_ideal(grades, seen, d);
    const Block& block = r.blocks[next];
    std::fill(tied.begin(), tied.end(), 0);
    for (uint32_t h = block.begin; h < block.end; ++h) ++tied[grade_index(grades, gain_of(r, r.hits[h]))];
    double shared = 0;
    uint32_t before = 0;
    for (size_t l = 0; l < grades.size() && before < d; before += grades[l++].judged) {
      const auto chances = hypergeometric(block.size, tied[l], d - block.first + 1);
      for (uint32_t x = 0; x < chances.size(); ++x) shared += chances[x] * std::min(seen[l] + x, d - before);
    }
    return shared;
  });
  return overlap / (s.normalise ? ideal_overlap(grades, s, depth) : sum_of_weights(s, depth));
}

// --- Accuracy: correctly ordered pairs of a relevant and another retrieved document ---

/// `right(relevant, others)` is the number of correctly ordered pairs in the divided block, above the cutoff.
template <class Right>
double pairs_in_order(const Ranked& r, const Spec& s, uint32_t relevant_in_cut, Right&& right) {
  const uint32_t k = std::min(depth(r, s), r.retrieved);
  uint32_t rank = 1, relevant_above = 0, others_above = 0;
  double in_order = 0;
  const auto add = [&](uint32_t relevant, uint32_t others) {
    in_order += static_cast<double>(relevant_above) * others + right(relevant, others);
    relevant_above += relevant;
    others_above += others;
    rank += relevant + others;
  };
  for (const Block& block : r.blocks) {
    if (block.first > k) break;
    add(0, block.first - rank);
    const uint32_t m = relevant_in(r, block, s);
    const uint32_t inside = std::min(block.size, k - block.first + 1);
    add(inside < block.size ? relevant_in_cut : m, inside < block.size ? inside - relevant_in_cut : block.size - m);
  }
  add(0, k + 1 - rank);
  const double pairs = static_cast<double>(relevant_above) * others_above;
  return pairs > 0 ? in_order / pairs : undefined;
}

/// The probabilities of each number of relevant documents above the cutoff in the block that it divides.
std::vector<double> relevant_above_cut(const Ranked& r, const Spec& s) {
  const uint32_t k = depth(r, s);
  for (const Block& block : r.blocks)
    if (block.first <= k && block.first + block.size > k + 1)
      return hypergeometric(block.size, relevant_in(r, block, s), k - block.first + 1);
  return {1.0};
}

double accuracy(const Ranked& r, const Spec& s) {
  const uint32_t k = std::min(depth(r, s), r.retrieved);
  uint32_t seen = 0;
  double wrong = 0;
  for (const Hit& hit : r.hits) {
    if (hit.rank > k) break;
    if (relevant(r, hit, s)) wrong += hit.rank - 1 - seen++;
  }
  const double pairs = static_cast<double>(seen) * (k - seen);
  return pairs > 0 ? 1 - wrong / pairs : undefined;
}

double expected_accuracy(const Ranked& r, const Spec& s) {
  const auto chances = relevant_above_cut(r, s);
  double mean = 0;
  for (uint32_t x = 0; x < chances.size(); ++x)
    if (chances[x] > 0)
      mean +=
          chances[x] * pairs_in_order(r, s, x, [](double relevant, double others) { return relevant * others / 2; });
  return mean;
}

Interval search_accuracy(const Ranked& r, const Spec& s) {
  const auto chances = relevant_above_cut(r, s);
  Interval bounds{undefined, undefined};
  for (uint32_t x = 0; x < chances.size(); ++x) {
    if (chances[x] == 0) continue;
    bounds.lower = std::fmin(bounds.lower, pairs_in_order(r, s, x, [](double, double) { return 0.0; }));
    bounds.upper = std::fmax(bounds.upper,
                             pairs_in_order(r, s, x, [](double relevant, double others) { return relevant * others; }));
  }
  return bounds;
}

}  // namespace

std::span<const Kernel> binary_kernels() {
  using enum TieBounds;
  static const Kernel table[] = {
      {"precision", precision<relevant_in_top>, precision<expected_relevant_in_top>, sorted, UnjudgedBounds::all},
      {"recall", recall<relevant_in_top>, recall<expected_relevant_in_top>, sorted, UnjudgedBounds::scan},
      {"capped_recall", capped_recall<relevant_in_top>, capped_recall<expected_relevant_in_top>, sorted,
       UnjudgedBounds::scan},
      {"f", f_measure<relevant_in_top>, f_measure<expected_relevant_in_top>, sorted, UnjudgedBounds::scan},
      {"r_precision", r_precision<relevant_in_top>, r_precision<expected_relevant_in_top>, sorted,
       UnjudgedBounds::scan},
      {"set_ap", set_ap, set_ap, fixed, UnjudgedBounds::scan},
      {"ap", ap, expected_ap, sorted, UnjudgedBounds::scan},
      {"rr", rr, expected_rr, sorted, UnjudgedBounds::all},
      {"hit", hit, expected_hit, sorted, UnjudgedBounds::all},
      {"iprec", iprec<interpolated_precision>, iprec<expected_interpolated_precision>, sorted, UnjudgedBounds::scan},
      {"ap11", ap11<interpolated_precision>, ap11<expected_interpolated_precision>, sorted, UnjudgedBounds::scan},
      {"bpref", bpref, expected_bpref, sorted, UnjudgedBounds::refuse},
      {"infap", infap, expected_infap, search, UnjudgedBounds::refuse, search_infap},
      {"accuracy", accuracy, expected_accuracy, search, UnjudgedBounds::refuse, search_accuracy},
      {"compat", compat, expected_compat, sorted, UnjudgedBounds::refuse},
  };
  return table;
}

}  // namespace gg
