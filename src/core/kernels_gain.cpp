// Graded gain: CG, DCG, nDCG, Rndcg, ERR, RBP.
#include <algorithm>
#include <array>
#include <vector>

#include "kernels_families.hpp"

namespace gg {

double log2_rank(uint32_t rank) {
  static const std::array<double, 4096> table = [] {
    std::array<double, 4096> t{};
    for (size_t i = 0; i < t.size(); ++i) t[i] = std::log2(static_cast<double>(i) + 1.0);
    return t;
  }();
  return rank < table.size() ? table[rank] : std::log2(static_cast<double>(rank) + 1.0);
}

namespace {

double log_discount(uint32_t rank, const Spec&) { return 1 / log2_rank(rank); }
double geometric_discount(uint32_t rank, const Spec& s) { return (1 - s.p) * std::pow(s.p, rank - 1); }

double graded_hit(const Ranked& r, const Hit& h, const Spec& s) { return graded(gain_of(r, h), s); }

/// The document's fraction of the highest grade; with `binary`, 0 or 1.
double rbp_gain(const Ranked& r, double gain, const Spec& s) {
  if (s.binary) return gain >= s.rel ? 1 : 0;
  if (gain <= 0 || gain < s.min_gain) return 0;
  if (s.scale == Scale::none) return gain;
  const double highest = s.scale == Scale::query ? r.query->gains_sorted.front() : r.max_gain;
  const double top = std::isnan(s.max_grade) ? std::max(highest, 1.0) : s.max_grade;
  return std::min(gain / top, 1.0);
}

double rbp_hit(const Ranked& r, const Hit& h, const Spec& s) { return rbp_gain(r, gain_of(r, h), s); }

/// The DCG of gains in descending order.
double ideal_dcg(std::span<const double> descending, const Spec& s) {
  const size_t n = s.cutoff ? std::min<size_t>(s.cutoff, descending.size()) : descending.size();
  double sum = 0;
  for (size_t i = 0; i < n && descending[i] > 0; ++i)
    sum += graded(descending[i], s) / log2_rank(static_cast<uint32_t>(i + 1));
  return sum;
}

double ideal_dcg(const Ranked& r, const Spec& s) {
  if (s.ideal_length) {
    const size_t length = std::min<size_t>(depth(r, s), r.retrieved);
    return ideal_dcg(r.query->gains_sorted.first(std::min(length, r.query->gains_sorted.size())), s);
  }
  if (!s.ideal_retrieved) return ideal_dcg(r.query->gains_sorted, s);
  std::vector<double> own;  // the retrieved documents in their best order
  own.reserve(r.hits.size());
  for (const Hit& hit : r.hits) own.push_back(gain_of(r, hit));
  std::sort(own.begin(), own.end(), std::greater<>());
  return ideal_dcg(own, s);
}

double cg(const Ranked& r, const Spec& s) { return linear(r, s, graded_hit, unweighted); }
double expected_cg(const Ranked& r, const Spec& s) { return expected_linear(r, s, graded_hit, unweighted); }

double dcg(const Ranked& r, const Spec& s) {
  const uint32_t k = depth(r, s);
  double sum = 0;
  for (const Hit& hit : r.hits) {
    if (hit.rank > k) break;
    sum += graded_hit(r, hit, s) / log2_rank(hit.rank);
  }
  return sum;
}
double expected_dcg(const Ranked& r, const Spec& s) { return expected_linear(r, s, graded_hit, log_discount); }

double ndcg(const Ranked& r, const Spec& s) {
  const double ideal = ideal_dcg(r, s);
  return ideal > 0 ? dcg(r, s) / ideal : 0;
}
double expected_ndcg(const Ranked& r, const Spec& s) {
  const double ideal = ideal_dcg(r, s);
  return ideal > 0 ? expected_dcg(r, s) / ideal : 0;
}

/// trec_eval's Rndcg: the mean of nDCG at the ranks where the ideal list changes its grade, and at the end.
double rndcg_with(const Ranked& r, const Spec& s, double (*dcg_of)(const Ranked&, const Spec&)) {
  const auto gains = r.query->gains_sorted;
  uint32_t positive = 0;
  while (positive < gains.size() && gains[positive] > 0) ++positive;
  if (positive == 0) return 0;
  double sum = 0;
  uint32_t points = 0;
  for (uint32_t b = 1; b <= positive; ++b) {
    if (b < positive && gains[b] == gains[b - 1]) continue;
    Spec at = s;
    at.cutoff = b;
    sum += dcg_of(r, at) / ideal_dcg(gains, at);
    ++points;
  }
  if (r.retrieved > positive + 1) {
    Spec whole = s;
    whole.cutoff = 0;
    sum += dcg_of(r, whole) / ideal_dcg(gains, whole);
    ++points;
  }
  return sum / points;
}
double rndcg(const Ranked& r, const Spec& s) { return rndcg_with(r, s, dcg); }
double expected_rndcg(const Ranked& r, const Spec& s) { return rndcg_with(r, s, expected_dcg); }

// --- ERR: the probability that a user is satisfied at a rank, divided by the rank ---

double stop_chance(const Ranked& r, double gain, const Spec& s) {
  if (gain <= 0) return 0;
  const double top = std::isnan(s.max_grade) ? std::max(r.max_gain, 1.0) : s.max_grade;
  return (std::exp2(std::min(gain, top)) - 1) / std::exp2(top);
}

double err(const Ranked& r, const Spec& s) {
  const uint32_t k = depth(r, s);
  double sum = 0, reading = 1;
  for (const Hit& hit : r.hits) {
    if (hit.rank > k) break;
    const double stop = stop_chance(r, gain_of(r, hit), s);
    sum += reading * stop / hit.rank;
    reading *= 1 - stop;
  }
  return sum;
}

double ideal_err(const Ranked& r, const Spec& s) {
  const auto gains = r.query->gains_sorted;
  const size_t n = s.cutoff ? std::min<size_t>(s.cutoff, gains.size()) : gains.size();
  double sum = 0, reading = 1;
  for (size_t i = 0; i < n && gains[i] > 0; ++i) {
    const double stop = stop_chance(r, gains[i], s);
    sum += reading * stop / static_cast<double>(i + 1);
    reading *= 1 - stop;
  }
  return sum;
}

/// In a block of t documents the probability of still reading after j of them is e_j / C(t, j), with e_j the
/// elementary symmetric polynomial of the probabilities to continue.
double expected_err(const Ranked& r, const Spec& s) {
  const uint32_t k = depth(r, s);
  double sum = 0, reading = 1;
  std::vector<double> mean_left;
  for (const Block& block : r.blocks) {
    if (block.first > k) break;
    std::vector<double> go_on;
    for (uint32_t h = block.begin; h < block.end; ++h)
      if (const double stop = stop_chance(r, gain_of(r, r.hits[h]), s); stop > 0) go_on.push_back(1 - stop);
    mean_product_of_draws(go_on, block.size, mean_left);
    for (uint32_t j = 0; j < block.size && block.first + j <= k; ++j)
      sum += reading * (mean_left[j] - mean_left[j + 1]) / (block.first + j);
    reading *= mean_left[block.size];
  }
  return sum;
}

double normalised(double value, double ideal) { return ideal > 0 ? value / ideal : 0; }
double nerr(const Ranked& r, const Spec& s) { return normalised(err(r, s), ideal_err(r, s)); }
double expected_nerr(const Ranked& r, const Spec& s) { return normalised(expected_err(r, s), ideal_err(r, s)); }

// --- RBP ---

double rbp(const Ranked& r, const Spec& s) { return linear(r, s, rbp_hit, geometric_discount); }
double expected_rbp(const Ranked& r, const Spec& s) { return expected_linear(r, s, rbp_hit, geometric_discount); }

/// The weight of everything unjudged: unjudged documents and all ranks past the end of the list.
double residual(const Ranked& r, const Spec& s, double judged_weight) {
  const uint32_t k = std::min(depth(r, s), r.retrieved);
  const double list_weight = 1 - std::pow(s.p, k);
  return (list_weight - judged_weight) + std::pow(s.p, k);
}
double one(const Ranked&, const Hit&, const Spec&) { return 1; }
double rbp_resid(const Ranked& r, const Spec& s) { return residual(r, s, linear(r, s, one, geometric_discount)); }
double expected_rbp_resid(const Ranked& r, const Spec& s) {
  return residual(r, s, expected_linear(r, s, one, geometric_discount));
}

}  // namespace

void mean_product_of_draws(std::span<const double> factors, uint32_t total, std::vector<double>& mean) {
  // The mean product over j draws, adding one factor at a time to a pool of ones: out of `size` documents, a set of j
  // includes the new factor with probability j / size.
  mean.assign(total + 1, 1.0);
  uint32_t size = total - static_cast<uint32_t>(factors.size());
  for (const double factor : factors) {
    ++size;
    for (uint32_t j = size; j >= 1; --j) {
      const double with = static_cast<double>(j) / size;
      const double without_value = j < size ? mean[j] : 0.0;
      mean[j] = with * factor * mean[j - 1] + (1 - with) * without_value;
    }
  }
}

std::span<const Kernel> gain_kernels() {
  static const Kernel table[] = {
      {"cg", cg, expected_cg, TieBounds::sorted, UnjudgedBounds::all},
      {"dcg", dcg, expected_dcg, TieBounds::sorted, UnjudgedBounds::all},
      {"ideal_dcg", ideal_dcg, ideal_dcg, TieBounds::fixed, UnjudgedBounds::refuse},
      {"ndcg", ndcg, expected_ndcg, TieBounds::sorted, UnjudgedBounds::layers},
      {"rndcg", rndcg, expected_rndcg, TieBounds::sorted, UnjudgedBounds::refuse},
      {"err", err, expected_err, TieBounds::sorted, UnjudgedBounds::all},
      {"nerr", nerr, expected_nerr, TieBounds::sorted, UnjudgedBounds::refuse},
      {"rbp", rbp, expected_rbp, TieBounds::sorted, UnjudgedBounds::all},
      {"rbp_resid", rbp_resid, expected_rbp_resid, TieBounds::sorted, UnjudgedBounds::fixed},
  };
  return table;
}

}  // namespace gg
