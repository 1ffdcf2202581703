#include "good_gain.hpp"

#include <cmath>
#include <map>
#include <string_view>

#include "gain_rows.hpp"

namespace gg {

using namespace gain;

namespace {

constexpr double session_rank_base = 2, session_query_base = 4;  // for sDCG
constexpr double cube_novelty = 0.5;                             // for the Cube Test

#define GOODGAIN_NAME(identifier, name) name,
constexpr const char* names[] = {GOODGAIN_GAIN_COLUMNS(GOODGAIN_NAME)};
#undef GOODGAIN_NAME

/// All measures of one conversation, with the gain `unlabelled` for every unlabelled result.
class Scorer {
 public:
  Scorer(const CountedSearches& counted, const GainOptions& o, double unlabelled)
      : counted_(counted), iterations_(counted.iterations), o_(o), unlabelled_(unlabelled) {}

  double worth(const Returned& r) const { return r.is_new ? o_.worth(r.labelled ? r.gain : unlabelled_) : 0; }
  bool good(const Returned& r) const { return r.is_new && (r.labelled ? r.gain : unlabelled_) >= o_.threshold; }

  void score(Values& rows) {
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
      const Iteration& iteration = iterations_[i - 1];
      for (const Searched& s : iteration.searches) {
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
        sum[EmptySearches] += s.results.empty() && !s.failed && !s.unread;
        sum[FailedSearches] += s.failed;
        sum[UnreadSearches] += s.unread;
      }
      sum[Seconds] = iteration.spent.seconds;
      sum[Tokens] = iteration.spent.tokens;
      sum[Cost] = iteration.spent.cost;
      for (size_t c = 0; c < 5; ++c) row[c] = count[c];
      row[AvgGain] = ratio(count[4], count[0], 0);
      const auto at = static_cast<double>(i);
      for (size_t c = 0; c < 4; ++c) sum[RAll + c] += count[c];
      sum[CG] += count[4];
      sum[DCG] += o_.weight(i) * count[4];
      sum[RAG] += row[AvgGain];
      sum[DRAG] += o_.weight(i) * row[AvgGain];
      sum[sDCG] += session;
      if (count[2] > 0) last_good_at = capped(i);
      for (const Column c : {RAll, URAll, GRAll, DupRAll, CG, DCG, sDCG, WastedSearches, RepeatedQueries, EmptySearches,
                             FailedSearches, UnreadSearches, Searches, Seconds, Tokens, Cost})
        row[c] = sum[c];
      row[RG] = sum[CG] / at;
      row[DRG] = sum[DCG] / at;
      row[RAG] = sum[RAG] / at;
      row[DRAG] = sum[DRAG] / at;
      row[SRE] = ratio(sum[GRAll], sum[RAll], 0);
      row[SRR] = ratio(sum[DupRAll], sum[RAll], 0);
      row[IterationsForAllGoodResults] = last_good_at;
      row[MarginalGain] = count[4] / static_cast<double>(iteration.searches.size());
      row[GainPerSecond] = ratio(sum[CG], sum[Seconds], nan);
      row[GainPer1kTokens] = ratio(sum[CG] * 1000, sum[Tokens], nan);
      row[GainPerCost] = ratio(sum[CG], sum[Cost], nan);
      row[CubeTest] = height(cubes) / at;
      row[Coverage] = ratio(labelled, sum[URAll], nan);
      row[TotalTokens] = counted_.total.tokens;
      row[TotalCost] = counted_.total.cost;
      row[TotalSeconds] = counted_.total.seconds;
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

  const Aspects& aspects_of(const Returned& r) const { return counted_.aspects[r.aspects - 1]; }

  bool any_aspect(std::map<std::string_view, std::pair<double, int>>& cubes) const {
    for (const Iteration& iteration : iterations_)
      for (const Searched& s : iteration.searches)
        for (const Returned& r : s.results)
          if (r.aspects)
            for (const auto& [name, gain] : aspects_of(r)) cubes[name];
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
      for (const auto& [name, gain] : aspects_of(result)) pour(name, gain);
    }
  }

  static double height(const std::map<std::string_view, std::pair<double, int>>& cubes) {
    double total = 0;
    for (const auto& [name, cube] : cubes) total += cube.first;
    return total / static_cast<double>(cubes.size());
  }

  /// Values divided by the pool: all known good results, returned or missed.
  void normalise(Values& rows, double returned_gain, double returned_good) {
    double pool = returned_gain, good = returned_good;
    std::vector<double> ideal;
    for (const double gain : counted_.missed) {
      pool += o_.worth(gain);
      good += gain >= o_.threshold;
      ideal.push_back(o_.worth(gain));
    }
    std::vector<double> weights;
    size_t query = 0, results = 0;
    for (const Iteration& iteration : iterations_)
      for (const Searched& s : iteration.searches) results += s.results.size();
    weights.reserve(results);
    for (const Iteration& iteration : iterations_)
      for (const Searched& s : iteration.searches)
        for (const Returned& r : s.results)
          if (const double w = worth(r); w > 0) ideal.push_back(w);
    std::sort(ideal.begin(), ideal.end(), std::greater<>());
    for (size_t i = 0; i < iterations_.size(); ++i) {
      double* row = rows.data() + i * column_count;
      for (const Searched& s : iterations_[i].searches) {
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
      for (const Searched& s : iterations_[i].searches) places += s.results.size();
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

  const CountedSearches& counted_;
  const std::vector<Iteration>& iterations_;
  const GainOptions& o_;
  double unlabelled_;
};

/// The row of a conversation without a search: nothing was returned, and where something is known to be good, nothing
/// was gained. Ratios to what was not spent or returned are undefined.
Values row_without_search(const CountedSearches& counted, const GainOptions& o) {
  Values row(column_count, nan);
  for (const Column c : {R, UR, Dup, RAll, URAll, DupRAll, WastedSearches, RepeatedQueries, EmptySearches,
                         FailedSearches, UnreadSearches, Searches})
    row[c] = 0;
  if (counted.evidence_known)
    for (const Column c : {GR, G, AvgGain, MarginalGain, GRAll, CG, RG, DCG, DRG, RAG, DRAG, SRE, sDCG, CubeTest})
      row[c] = 0;
  row[TotalTokens] = counted.total.tokens;
  row[TotalCost] = counted.total.cost;
  row[TotalSeconds] = counted.total.seconds;
  if (std::none_of(counted.missed.begin(), counted.missed.end(), [&](double gain) { return o.worth(gain) > 0; }))
    return row;
  for (const Column c : {nCG, nDCG, EvidenceRecall, nsDCG, AreaSearches}) row[c] = 0;
  if (!std::isnan(counted.total.seconds)) row[AreaSeconds] = 0;
  if (!std::isnan(counted.total.tokens)) row[AreaTokens] = 0;
  return row;
}

bool any_unread(const CountedSearches& counted) {
  for (const Iteration& iteration : counted.iterations)
    for (const Searched& s : iteration.searches)
      if (s.unread) return true;
  return false;
}

bool any_unlabelled(const CountedSearches& counted) {
  if (counted.unlabelled_missed) return true;
  for (const Iteration& iteration : counted.iterations)
    for (const Searched& s : iteration.searches)
      for (const Returned& r : s.results)
        if (r.is_new && !r.labelled) return true;
  return false;
}

}  // namespace

double GainOptions::weight(size_t iteration) const {
  const auto at = static_cast<double>(iteration);
  switch (discount) {
    case Discount::log2: return 1 / std::log2(at + 1);
    case Discount::none: return 1;
    case Discount::reciprocal: return 1 / at;
    case Discount::geometric: return std::pow(patience, at - 1);
  }
  return nan;
}

double GainOptions::worth(double gain) const {
  if (!(gain >= threshold)) return 0;
  return scale == GainScale::exponential ? std::exp2(gain) - 1 : gain;
}

std::span<const char* const> gain_columns() { return names; }

void append_good_gain(const CountedSearches& counted, const GainOptions& options, GainRows& rows) {
  Values none, low, high;
  if (counted.iterations.empty()) {
    none = row_without_search(counted, options);
  } else {
    Scorer(counted, options, -1).score(none);
    const bool unread = any_unread(counted), unlabelled = any_unlabelled(counted);
    if (unread || unlabelled) {
      low = high = none;
      if (unlabelled) {
        Scorer(counted, options, options.max_gain).score(high);
        bound_unlabelled(counted, options, none, low, high);
      }
      if (unread) bound_unread(counted, options, none, low, high);
    }
  }
  fill_funnel(counted, options, none, low, high);
  const bool exact = low.empty();
  if (!exact) rows.add_bounds();
  rows.values.insert(rows.values.end(), none.begin(), none.end());
  if (!rows.bounded) return;
  if (exact) low = high = none;
  rows.lower.insert(rows.lower.end(), low.begin(), low.end());
  rows.upper.insert(rows.upper.end(), high.begin(), high.end());
}

void GainRows::append(const GainRows& other, size_t first, size_t count) {
  if (other.bounded) add_bounds();
  const auto copy = [&](const std::vector<double>& from, std::vector<double>& to) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first * column_count);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count * column_count));
  };
  copy(other.values, values);
  if (!bounded) return;
  copy(other.bounded ? other.lower : other.values, lower);
  copy(other.bounded ? other.upper : other.values, upper);
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
