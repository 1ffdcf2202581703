// trec_eval measures that the other families lack or define differently: gains per relevance level, lists of recall
// points, and trec_eval's own edge cases. Used only by the drop-in replacements and presets.
#include <algorithm>
#include <vector>

#include "kernels_families.hpp"

namespace gg {
namespace {

/// Grades as trec_eval sees them: documents that are not listed, and documents listed with a negative grade.
constexpr double not_listed = -1, not_judged = -2;

/// Calls use(rank, grade) for every document, listed or not.
template <class Use>
void for_each_rank(const Ranked& r, Use&& use) {
  size_t next = 0;
  for (uint32_t rank = 1; rank <= r.retrieved; ++rank) {
    double grade = not_listed;
    if (next < r.hits.size() && r.hits[next].rank == rank) {
      const double gain = gain_of(r, r.hits[next++]);
      grade = gain < 0 ? not_judged : gain;
    }
    use(rank, grade);
  }
}

uint32_t relevant_retrieved(const Ranked& r, const Spec& s) {
  uint32_t n = 0;
  for (const Hit& hit : r.hits) n += relevant(r, hit, s);
  return n;
}

// --- gains per level: `numbers` holds level, gain, level, gain, ... ---

double gain_of_level(double level, const Spec& s) {
  for (size_t i = 0; i + 1 < s.numbers.size(); i += 2)
    if (s.numbers[i] == level) return s.numbers[i + 1];
  return level >= 0 ? level : 0;
}

/// The positive gains of the judged documents in descending order.
std::vector<double> ideal_gains(const Ranked& r, const Spec& s) {
  std::vector<double> gains;
  for (const double grade : r.query->gains)
    if (grade >= 0)
      if (const double gain = gain_of_level(grade, s); gain > 0) gains.push_back(gain);
  std::sort(gains.begin(), gains.end(), std::greater<>());
  return gains;
}

double dcg(const Ranked& r, const Spec& s) {
  double sum = 0;
  for_each_rank(r, [&](uint32_t rank, double grade) {
    if (s.cutoff && rank > s.cutoff) return;
    if (const double gain = gain_of_level(grade, s); gain != 0) sum += gain / log2_rank(rank);
  });
  return sum;
}

double ideal_dcg(const Ranked& r, const Spec& s) {
  double sum = 0;
  uint32_t rank = 0;
  for (const double gain : ideal_gains(r, s)) {
    if (s.cutoff && rank == s.cutoff) break;
    sum += gain / log2_rank(++rank);
  }
  return sum;
}

double ndcg(const Ranked& r, const Spec& s) {
  const double ideal = ideal_dcg(r, s);
  return ideal > 0 ? dcg(r, s) / ideal : 0;
}

/// nDCG at the rank of every retrieved document with a gain; the others count with nDCG at the end.
double ndcg_rel(const Ranked& r, const Spec& s) {
  const auto ideal = ideal_gains(r, s);
  double sum = 0, own = 0, best = 0;
  uint32_t with_gain = 0;
  for_each_rank(r, [&](uint32_t rank, double grade) {
    const double gain = gain_of_level(grade, s);
    if (gain != 0) own += gain / log2_rank(rank);
    if (rank <= ideal.size()) best += ideal[rank - 1] / log2_rank(rank);
    if (gain > 0) {
      sum += own / best;
      ++with_gain;
    }
  });
  for (auto rank = r.retrieved + 1; rank <= ideal.size(); ++rank) best += ideal[rank - 1] / log2_rank(rank);
  sum += (static_cast<double>(ideal.size()) - with_gain) * own / best;
  return sum > 0 ? sum / static_cast<double>(ideal.size()) : 0;
}

/// nDCG where the ideal list changes its gain, and at the end of a list that is longer than the ideal by two or more.
double rndcg(const Ranked& r, const Spec& s) {
  if (relevant_judged(r, s) == 0) return 0;
  const auto ideal = ideal_gains(r, s);
  std::vector<double> own(r.retrieved + 1, 0.0);  // DCG of the first documents
  for_each_rank(r, [&](uint32_t rank, double grade) {
    const double gain = gain_of_level(grade, s);
    own[rank] = own[rank - 1] + (gain != 0 ? gain / log2_rank(rank) : 0);
  });
  double sum = 0, best = 0;
  uint32_t points = 0;
  for (uint32_t rank = 1; rank <= ideal.size(); ++rank) {
    best += ideal[rank - 1] / log2_rank(rank);
    if (rank < ideal.size() && ideal[rank] == ideal[rank - 1]) continue;
    sum += own[std::min(rank, r.retrieved)] / best;
    ++points;
  }
  if (r.retrieved > ideal.size() + 1) {
    sum += own[r.retrieved] / best;
    ++points;
  }
  return sum / points;
}

/// A gain is discounted more the further the gains above it fall behind the best possible ones.
double normalised_gain(const Ranked& r, const Spec& s) {
  const auto ideal = ideal_gains(r, s);
  double sum = 0, own = 0, cost = 0, best = 0;
  for (const double gain : ideal) best += gain;
  for_each_rank(r, [&](uint32_t rank, double grade) {
    const double gain = gain_of_level(grade, s);
    own += gain;
    cost += rank <= ideal.size() ? std::max(ideal[rank - 1], 1.0) : 1.0;
    if (gain != 0) sum += gain / std::log2(2 + cost - own);
  });
  return best > 0 ? sum / best : 0;
}

/// Grades are scaled to 0..1 within the query if any lies outside.
double rbp(const Ranked& r, const Spec& s) {
  const auto has_own_gain = [&](double level) {
    for (size_t i = 0; i + 1 < s.numbers.size(); i += 2)
      if (s.numbers[i] == level) return true;
    return false;
  };
  double highest = r.query->gains_sorted.empty() ? 0 : r.query->gains_sorted.front();
  while (has_own_gain(highest)) --highest;  // the highest level without a gain of its own
  double low = 0, high = std::max(highest, 0.0);
  for (size_t i = 1; i < s.numbers.size(); i += 2)
    low = std::min(low, s.numbers[i]), high = std::max(high, s.numbers[i]);
  const auto has_gain = [&](double grade) { return grade >= 0 || has_own_gain(grade); };
  double sum = 0, weight = 1;
  for_each_rank(r, [&](uint32_t, double grade) {
    double gain = has_gain(grade) ? gain_of_level(grade, s) : 0;
    if (has_gain(grade) && (low < 0 || high > 1)) gain = (gain - low) / (high - low);
    if (gain != 0) sum += gain * weight;
    weight *= s.p;
  });
  return (1 - s.p) * sum;
}

/// Like trec_eval: the tail past the end of the list counts only if something in the list is unjudged.
double rbp_resid(const Ranked& r, const Spec& s) {
  double sum = 0, weight = 1;
  bool any = false;
  for_each_rank(r, [&](uint32_t, double grade) {
    if (grade < 0) sum += weight, any = true;
    weight *= s.p;
  });
  return any ? weight + (1 - s.p) * sum : 0;
}

// --- binary relevance ---

double bin_g(const Ranked& r, const Spec& s) {
  const uint32_t all = relevant_judged(r, s);
  double sum = 0;
  uint32_t seen = 0;
  for (const Hit& hit : r.hits)
    if (relevant(r, hit, s)) sum += 1 / std::log2(2.0 + hit.rank - ++seen);
  return all ? sum / all : 0;
}

double sum_of_precisions(const Ranked& r, const Spec& s) {
  double sum = 0;
  uint32_t seen = 0;
  for (const Hit& hit : r.hits)
    if (relevant(r, hit, s)) sum += static_cast<double>(++seen) / hit.rank;
  return sum;
}

double yaap(const Ranked& r, const Spec& s) {
  const double sum = sum_of_precisions(r, s);
  return std::log((1 + sum) / (1 + relevant_judged(r, s) - sum));
}

constexpr double least = 0.00001;  // the smallest value in a geometric mean

double gm_map(const Ranked& r, const Spec& s) {
  const uint32_t all = relevant_judged(r, s);
  return std::log(std::max(all ? sum_of_precisions(r, s) / all : 0, least));
}

double gm_bpref(const Ranked& r, const Spec& s) {
  static const Kernel* const bpref = find_kernel("bpref");
  return std::log(std::max(bpref->point(r, s), least));
}

/// `numbers`: the worth of relevant and other retrieved documents, of relevant and other documents not retrieved, and
/// the number of documents.
double utility(const Ranked& r, const Spec& s) {
  if (s.numbers.size() < 5) return undefined;
  const double hits = relevant_retrieved(r, s), all = relevant_judged(r, s), n = r.retrieved;
  return s.numbers[0] * hits + s.numbers[1] * (n - hits) + s.numbers[2] * (all - hits) +
         s.numbers[3] * (s.numbers[4] + hits - n - all);
}

/// Precision at a multiple of R.
double rprec_mult(const Ranked& r, const Spec& s) {
  const auto k = static_cast<uint32_t>(s.recall * relevant_judged(r, s) + 0.9);
  uint32_t seen = 0;
  for (const Hit& hit : r.hits) seen += hit.rank <= k && relevant(r, hit, s);
  return k ? static_cast<double>(seen) / k : 0;
}

/// Interpolated precision; 0 / 0 for an empty list if no document is required.
double iprec_at(const Ranked& r, const Spec& s, double recall) {
  const double exact = recall * relevant_judged(r, s);
  const double required = s.recall_ceil ? std::trunc(exact + 0.9) : std::round(exact);
  if (r.retrieved == 0) return required > 0 ? 0 : undefined;
  double best = 0;
  uint32_t seen = 0;
  for (const Hit& hit : r.hits)
    if (relevant(r, hit, s) && ++seen >= required) best = std::max(best, static_cast<double>(seen) / hit.rank);
  return best;
}

double iprec(const Ranked& r, const Spec& s) { return iprec_at(r, s, s.recall); }

double mean_iprec(const Ranked& r, const Spec& s) {
  double sum = 0;
  for (const double recall : s.numbers) sum += iprec_at(r, s, recall);
  return sum / static_cast<double>(s.numbers.size());
}

double set_relative_p(const Ranked& r, const Spec& s) {
  const double most = std::min(r.retrieved, relevant_judged(r, s));
  return most > 0 ? relevant_retrieved(r, s) / most : 0;
}

/// `beta` is the weight of recall itself, not squared.
double set_f(const Ranked& r, const Spec& s) {
  const double hits = relevant_retrieved(r, s);
  if (hits == 0) return 0;
  const double p = hits / r.retrieved, recall = hits / relevant_judged(r, s);
  return (s.beta + 1) * p * recall / (s.beta * p + recall);
}

// --- judged and unjudged documents ---

double unjudged(const Ranked& r, const Spec& s) {
  uint32_t n = 0;
  for_each_rank(r, [&](uint32_t rank, double grade) { n += rank <= s.cutoff && grade < 0; });
  return static_cast<double>(n) / s.cutoff;
}

double judged_nonrelevant(const Ranked& r, const Spec& s) {
  uint32_t n = 0;
  for (const Hit& hit : r.hits) n += gain_of(r, hit) >= 0 && !relevant(r, hit, s);
  return n;
}

/// The grades of ranks `numbers[0]` to `numbers[1]` as digits of a base-14 number, lowest first: 0 for no document,
/// 1 to 10 for the grades 0 to 9, then above 9, not listed, not judged.
double grades(const Ranked& r, const Spec& s) {
  if (s.numbers.size() < 2) return undefined;
  double sum = 0, place = 1;
  for_each_rank(r, [&](uint32_t rank, double grade) {
    if (rank < s.numbers[0] || rank > s.numbers[1]) return;
    sum += place * (grade == not_listed ? 12 : grade == not_judged ? 13 : grade > 9 ? 11 : std::floor(grade) + 1);
    place *= 14;
  });
  return sum;
}

}  // namespace

std::span<const Kernel> trec_eval_kernels() {
  using enum TieBounds;
  constexpr auto refuse = UnjudgedBounds::refuse;
  static const Kernel table[] = {
      {"te_dcg", dcg, dcg, sorted, refuse},
      {"te_ideal_dcg", ideal_dcg, ideal_dcg, fixed, refuse},
      {"te_ndcg", ndcg, ndcg, sorted, refuse},
      {"te_ndcg_rel", ndcg_rel, ndcg_rel, sorted, refuse},
      {"te_rndcg", rndcg, rndcg, sorted, refuse},
      {"te_g", normalised_gain, normalised_gain, sorted, refuse},
      {"te_rbp", rbp, rbp, sorted, refuse},
      {"te_rbp_resid", rbp_resid, rbp_resid, sorted, refuse},
      {"te_bin_g", bin_g, bin_g, sorted, refuse},
      {"te_yaap", yaap, yaap, sorted, refuse},
      {"te_gm_map", gm_map, gm_map, sorted, refuse},
      {"te_gm_bpref", gm_bpref, gm_bpref, sorted, refuse},
      {"te_utility", utility, utility, fixed, refuse},
      {"te_rprec_mult", rprec_mult, rprec_mult, sorted, refuse},
      {"te_iprec", iprec, iprec, sorted, refuse},
      {"te_mean_iprec", mean_iprec, mean_iprec, sorted, refuse},
      {"te_set_relative_p", set_relative_p, set_relative_p, fixed, refuse},
      {"te_set_f", set_f, set_f, fixed, refuse},
      {"te_unjudged", unjudged, unjudged, sorted, refuse},
      {"te_judged_nonrelevant", judged_nonrelevant, judged_nonrelevant, fixed, refuse},
      {"te_grades", grades, grades, fixed, refuse},
  };
  return table;
}

}  // namespace gg
