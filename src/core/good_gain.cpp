#include "good_gain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

#include "registry.hpp"

namespace gg {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double session_rank_base = 2, session_query_base = 4;  // for sDCG
constexpr double cube_novelty = 0.5;                             // for the Cube Test
constexpr double most_iterations = 100;

// The measures, in the order of the registry.
#define GOODGAIN_COLUMN(identifier, name) identifier,
enum Column : size_t { GOODGAIN_GAIN_COLUMNS(GOODGAIN_COLUMN) column_count };
#undef GOODGAIN_COLUMN

#define GOODGAIN_NAME(identifier, name) name,
constexpr const char* names[] = {GOODGAIN_GAIN_COLUMNS(GOODGAIN_NAME)};
#undef GOODGAIN_NAME

double weight(const GainOptions& o, size_t i) {
  const auto at = static_cast<double>(i);
  switch (o.discount) {
    case Discount::log2: return 1 / std::log2(at + 1);
    case Discount::none: return 1;
    case Discount::reciprocal: return 1 / at;
    case Discount::geometric: return std::pow(o.patience, at - 1);
  }
  return nan;
}

double ratio(double part, double whole, double otherwise) { return whole > 0 ? part / whole : otherwise; }

/// All measures of one conversation, with the gain `unlabelled` for every unlabelled result.
class Scorer {
 public:
  Scorer(const std::vector<Iteration>& iterations, std::span<const double> missed, const GainOptions& o,
         double unlabelled)
      : iterations_(iterations), o_(o), unlabelled_(unlabelled), missed_(missed) {}

  double worth(double gain) const {
    if (!(gain >= o_.threshold)) return 0;
    return o_.scale == GainScale::exponential ? std::exp2(gain) - 1 : gain;
  }
  double worth(const Returned& r) const { return r.is_new ? worth(r.labelled ? r.gain : unlabelled_) : 0; }
  bool good(const Returned& r) const { return r.is_new && (r.labelled ? r.gain : unlabelled_) >= o_.threshold; }

  void score(std::vector<double>& rows) {
    const size_t n = iterations_.size();
    rows.assign(n * column_count, nan);
    double sum[column_count] = {};
    double labelled = 0, gain_so_far = 0, last_good_at = nan;
    double searches_before = 0, seconds_before = 0, tokens_before = 0, area[3] = {};
    std::map<std::string_view, std::pair<double, int>> cubes;  // height, relevant results so far
    const bool has_aspects = any_aspect(cubes);
    size_t query = 0;
    for (size_t i = 1; i <= n; ++i) {
      double* row = rows.data() + (i - 1) * column_count;
      double count[5] = {};  // R, UR, GR, Dup, G
      double session = 0;
      for (const Searched& s : iterations_[i - 1]) {
        ++query;
        double good_results = 0;
        for (size_t r = 0; r < s.results.size(); ++r) {
          const Returned& result = s.results[r];
          const double w = worth(result);
          count[0] += 1;
          count[1] += result.is_new;
          count[2] += good(result);
          count[3] += !result.is_new;
          count[4] += w;
          labelled += result.is_new && result.labelled;
          good_results += good(result);
          session += w * session_weight(query, r + 1);
          if (result.is_new) fill(cubes, result, has_aspects);
        }
        sum[Searches] += 1;
        sum[WastedSearches] += good_results == 0;
        sum[RepeatedQueries] += s.repeats_query;
        sum[Seconds] += s.latency;
        sum[Tokens] += s.tokens;
        sum[Cost] += s.cost;
      }
      for (size_t c = 0; c < 5; ++c) row[c] = count[c];
      row[AvgGain] = ratio(count[4], count[0], 0);
      const auto at = static_cast<double>(i);
      for (size_t c = 0; c < 4; ++c) sum[RAll + c] += count[c];
      sum[CG] += count[4];
      sum[DCG] += weight(o_, i) * count[4];
      sum[RAG] += row[AvgGain];
      sum[DRAG] += weight(o_, i) * row[AvgGain];
      sum[sDCG] += session;
      if (count[2] > 0) last_good_at = std::min(at, most_iterations);
      for (const Column c : {RAll, URAll, GRAll, DupRAll, CG, DCG, sDCG, WastedSearches, RepeatedQueries, Searches,
                             Seconds, Tokens, Cost})
        row[c] = sum[c];
      row[RG] = sum[CG] / at;
      row[DRG] = sum[DCG] / at;
      row[RAG] = sum[RAG] / at;
      row[DRAG] = sum[DRAG] / at;
      row[SRE] = ratio(sum[GRAll], sum[RAll], 0);
      row[SRR] = ratio(sum[DupRAll], sum[RAll], 0);
      row[IterationsForAllGoodResults] = last_good_at;
      row[MarginalGain] = count[4] / static_cast<double>(iterations_[i - 1].size());
      row[GainPerSecond] = ratio(sum[CG], sum[Seconds], nan);
      row[GainPer1kTokens] = ratio(sum[CG] * 1000, sum[Tokens], nan);
      row[GainPerCost] = ratio(sum[CG], sum[Cost], nan);
      row[CubeTest] = height(cubes) / at;
      row[Coverage] = ratio(labelled, sum[URAll], nan);
      const double middle = (gain_so_far + sum[CG]) / 2;
      area[0] += middle * (sum[Searches] - searches_before);
      area[1] += middle * (sum[Seconds] - seconds_before);
      area[2] += middle * (sum[Tokens] - tokens_before);
      for (size_t a = 0; a < 3; ++a) row[AreaSearches + a] = area[a];
      gain_so_far = sum[CG], searches_before = sum[Searches], seconds_before = sum[Seconds],
      tokens_before = sum[Tokens];
    }
    normalise(rows, sum[CG], sum[GRAll]);
  }

 private:
  static double session_weight(size_t query, size_t rank) {
    const auto log = [](double base, double x) { return std::log2(x) / std::log2(base); };
    return 1 / (log(session_rank_base, static_cast<double>(rank) + session_rank_base - 1) *
                log(session_query_base, static_cast<double>(query) + session_query_base - 1));
  }

  bool any_aspect(std::map<std::string_view, std::pair<double, int>>& cubes) const {
    for (const Iteration& iteration : iterations_)
      for (const Searched& s : iteration)
        for (const Returned& r : s.results)
          if (r.aspects)
            for (const auto& [name, gain] : *r.aspects) cubes[name];
    const bool any = !cubes.empty();
    if (!any) cubes[""];
    return any;
  }

  void fill(std::map<std::string_view, std::pair<double, int>>& cubes, const Returned& result, bool has_aspects) const {
    const auto pour = [&](std::string_view name, double gain) {
      if (!(gain > 0)) return;
      auto& [height, before] = cubes[name];
      height = std::min(1.0, height + std::pow(cube_novelty, before++) * gain / o_.max_gain);
    };
    if (!has_aspects) {
      const double gain = result.labelled ? result.gain : unlabelled_;
      pour("", gain >= o_.threshold ? gain : 0);
    } else if (result.aspects) {
      for (const auto& [name, gain] : *result.aspects) pour(name, gain);
    }
  }

  static double height(const std::map<std::string_view, std::pair<double, int>>& cubes) {
    double total = 0;
    for (const auto& [name, cube] : cubes) total += cube.first;
    return total / static_cast<double>(cubes.size());
  }

  /// Values divided by the pool: all known good results, returned or missed.
  void normalise(std::vector<double>& rows, double returned_gain, double returned_good) {
    double pool = returned_gain, good = returned_good;
    std::vector<double> ideal;
    for (const double gain : missed_) {
      pool += worth(gain);
      good += gain >= o_.threshold;
      ideal.push_back(worth(gain));
    }
    std::vector<double> weights;
    size_t query = 0;
    for (const Iteration& iteration : iterations_)
      for (const Searched& s : iteration)
        for (const Returned& r : s.results)
          if (const double w = worth(r); w > 0) ideal.push_back(w);
    std::sort(ideal.begin(), ideal.end(), std::greater<>());
    for (size_t i = 0; i < iterations_.size(); ++i) {
      double* row = rows.data() + i * column_count;
      for (const Searched& s : iterations_[i]) {
        ++query;
        for (size_t r = 1; r <= s.results.size(); ++r) weights.push_back(session_weight(query, r));
      }
      row[nCG] = ratio(row[CG], pool, nan);
      row[nDCG] = ratio(row[DCG], pool, nan);
      row[EvidenceRecall] = ratio(row[GRAll], good, nan);
      const double budgets[] = {row[Searches], row[Seconds], row[Tokens]};
      for (size_t a = 0; a < 3; ++a) row[AreaSearches + a] = ratio(row[AreaSearches + a], budgets[a] * pool, nan);
    }
    // The ideal session of the first i iterations: the best results in the most heavily weighted places. For a long
    // conversation it is computed only at the end, so that time stays linear.
    const bool few = iterations_.size() <= 64;
    size_t places = 0;
    std::vector<double> sorted;
    for (size_t i = 0; i < iterations_.size(); ++i) {
      for (const Searched& s : iterations_[i]) places += s.results.size();
      if (!few && i + 1 < iterations_.size()) continue;
      sorted.assign(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(places));
      const size_t filled = std::min(places, ideal.size());
      std::partial_sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(filled), sorted.end(),
                        std::greater<>());
      double best = 0;
      for (size_t p = 0; p < filled; ++p) best += ideal[p] * sorted[p];
      double* row = rows.data() + i * column_count;
      row[nsDCG] = ratio(row[sDCG], best, nan);
    }
  }

  const std::vector<Iteration>& iterations_;
  const GainOptions& o_;
  double unlabelled_;
  std::span<const double> missed_;
};

/// Bounds of ratios to a pool that itself depends on the labels.
void bound_shares(const std::vector<Iteration>& iterations, const GainOptions& o, const std::vector<double>& none,
                  std::vector<double>& low, std::vector<double>& high, double pool, double good, double worth_of_max) {
  const size_t n = iterations.size();
  const double good_of_max = o.max_gain >= o.threshold ? 1 : 0;
  std::vector<double> unknown(n);
  double unknown_all = 0;
  for (size_t i = 0; i < n; ++i) {
    for (const Searched& s : iterations[i])
      for (const Returned& r : s.results) unknown[i] += r.is_new && !r.labelled;
    unknown_all += unknown[i];
  }
  double seen = 0, last_unknown = nan, first_unknown = nan;
  for (size_t i = 0; i < n; ++i) {
    seen += unknown[i];
    if (unknown[i] > 0 && good_of_max > 0) {
      last_unknown = std::min(static_cast<double>(i + 1), most_iterations);
      if (std::isnan(first_unknown)) first_unknown = last_unknown;
    }
    const double* row = none.data() + i * column_count;
    double* l = low.data() + i * column_count;
    double* h = high.data() + i * column_count;
    const double more = seen * worth_of_max, later = (unknown_all - seen) * worth_of_max;
    l[nCG] = ratio(row[CG], pool + later, nan);
    h[nCG] = ratio(row[CG] + more, pool + more, nan);
    l[EvidenceRecall] = ratio(row[GRAll], good + (unknown_all - seen) * good_of_max, nan);
    h[EvidenceRecall] = ratio(row[GRAll] + seen * good_of_max, good + seen * good_of_max, nan);
    // A weighted mean of discounts: unknown results of early iterations raise it, those of later ones lower it.
    double top = row[DCG], bottom = pool;
    for (size_t k = 0; k <= i; ++k) {
      const double w = weight(o, k + 1), add = unknown[k] * worth_of_max;
      if (add > 0 && (bottom <= 0 || w > top / bottom)) top += w * add, bottom += add;
    }
    h[nDCG] = ratio(top, bottom, nan);
    top = row[DCG], bottom = pool + later;
    for (size_t k = i + 1; k-- > 0;) {
      const double w = weight(o, k + 1), add = unknown[k] * worth_of_max;
      if (add > 0 && bottom > 0 && w < top / bottom) top += w * add, bottom += add;
    }
    l[nDCG] = ratio(top, bottom, nan);
    const double known = row[IterationsForAllGoodResults];
    l[IterationsForAllGoodResults] = std::isnan(known) ? first_unknown : known;
    h[IterationsForAllGoodResults] = std::isnan(known)          ? last_unknown
                                     : std::isnan(last_unknown) ? known
                                                                : std::max(known, last_unknown);
    // Valid, though not always attained: the best case with the smallest pool, and vice versa.
    for (const Column c : {nsDCG, AreaSearches, AreaSeconds, AreaTokens}) {
      l[c] = std::isnan(row[c]) ? row[c] : 0;
      h[c] = std::isnan(row[c]) ? row[c] : 1;
    }
    std::swap(l[WastedSearches], h[WastedSearches]);  // more labels can only reduce their number
  }
}

}  // namespace

std::span<const char* const> gain_columns() { return names; }

void append_good_gain(const std::vector<Iteration>& iterations, std::span<const double> missed,
                      const GainOptions& options, GainRows& rows) {
  std::vector<double> none, low, high;
  Scorer(iterations, missed, options, -1).score(none);
  bool complete = true;
  for (const Iteration& iteration : iterations)
    for (const Searched& s : iteration)
      for (const Returned& r : s.results) complete &= !r.is_new || r.labelled;
  if (!complete) {
    rows.add_bounds();
    low = none;
    Scorer all(iterations, missed, options, options.max_gain);
    all.score(high);
    double pool = none[none.size() - column_count + CG], good = none[none.size() - column_count + GRAll];
    for (const double gain : missed) {
      pool += all.worth(gain);
      good += gain >= options.threshold;
    }
    bound_shares(iterations, options, none, low, high, pool, good, all.worth(options.max_gain));
    for (size_t i = 0; i < iterations.size(); ++i) high[i * column_count + Coverage] = low[i * column_count + Coverage];
  }
  rows.values.insert(rows.values.end(), none.begin(), none.end());
  if (!rows.bounded) return;
  if (complete) low = high = none;
  rows.lower.insert(rows.lower.end(), low.begin(), low.end());
  rows.upper.insert(rows.upper.end(), high.begin(), high.end());
}

void GainRows::join(GainRows& more) {
  if (bounded || more.bounded) {
    add_bounds();
    more.add_bounds();
  }
  const auto move = [](std::vector<double>& all, std::vector<double>& some) {
    all.insert(all.end(), some.begin(), some.end());
    some = {};
  };
  move(values, more.values);
  move(lower, more.lower);
  move(upper, more.upper);
}

}  // namespace gg
