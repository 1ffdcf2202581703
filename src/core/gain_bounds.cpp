// Bounds of Good Gain: what unlabelled results and unread searches leave open. docs/good-gain.md derives them.
#include <cmath>
#include <limits>

#include "gain_rows.hpp"

namespace gg::gain {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// The gain and the number of all known good results, returned or missed.
struct Pool {
  double gain, good;

  Pool(const CountedSearches& counted, const GainOptions& o, const Values& none)
      : gain(none[none.size() - column_count + CG]), good(none[none.size() - column_count + GRAll]) {
    for (const double missed : counted.missed) {
      gain += o.worth(missed);
      good += missed >= o.threshold;
    }
  }
};

bool has_aspects(const std::vector<Iteration>& iterations) {
  for (const Iteration& iteration : iterations)
    for (const Searched& s : iteration.searches)
      for (const Returned& r : s.results)
        if (r.aspects) return true;
  return false;
}

/// The number of unlabelled new results of each iteration.
std::vector<double> count_unlabelled(const std::vector<Iteration>& iterations) {
  std::vector<double> unknown(iterations.size());
  for (size_t i = 0; i < iterations.size(); ++i)
    for (const Searched& s : iterations[i].searches)
      for (const Returned& r : s.results) unknown[i] += r.is_new && !r.labelled;
  return unknown;
}

}  // namespace

void bound_unlabelled(const CountedSearches& counted, const GainOptions& o, const Values& none, Values& low,
                      Values& high) {
  const Pool pool(counted, o, none);
  const size_t n = counted.iterations.size();
  const double worth_of_max = o.worth(o.max_gain), good_of_max = o.max_gain >= o.threshold ? 1 : 0;
  const std::vector<double> unknown = count_unlabelled(counted.iterations);
  double own = 0;
  for (const double u : unknown) own += u;
  const double unknown_all = own + counted.unlabelled_missed;
  // A small gain before larger ones halves what they add, so that the Cube Test can fall.
  const bool cube_can_fall = own > 0 && 2 * o.threshold < o.max_gain && !has_aspects(counted.iterations);
  double seen = 0, last_unknown = nan, first_unknown = nan;
  for (size_t i = 0; i < n; ++i) {
    seen += unknown[i];
    if (unknown[i] > 0 && good_of_max > 0) {
      last_unknown = capped(i + 1);
      if (std::isnan(first_unknown)) first_unknown = last_unknown;
    }
    const double* row = none.data() + i * column_count;
    double* l = low.data() + i * column_count;
    double* h = high.data() + i * column_count;
    const double more = seen * worth_of_max, later = (unknown_all - seen) * worth_of_max;
    l[nCG] = ratio(row[CG], pool.gain + later, nan);
    h[nCG] = ratio(row[CG] + more, pool.gain + more, nan);
    l[EvidenceRecall] = ratio(row[GRAll], pool.good + (unknown_all - seen) * good_of_max, nan);
    h[EvidenceRecall] = ratio(row[GRAll] + seen * good_of_max, pool.good + seen * good_of_max, nan);
    // A weighted mean of discounts: unknown results of early iterations raise it, those of later ones lower it.
    double top = row[DCG], bottom = pool.gain;
    for (size_t k = 0; k <= i; ++k) {
      const double w = o.weight(k + 1), add = unknown[k] * worth_of_max;
      if (add > 0 && (bottom <= 0 || w > top / bottom)) top += w * add, bottom += add;
    }
    h[nDCG] = ratio(top, bottom, nan);
    top = row[DCG], bottom = pool.gain + later;
    for (size_t k = i + 1; k-- > 0;) {
      const double w = o.weight(k + 1), add = unknown[k] * worth_of_max;
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
      h[c] = std::isnan(row[c]) || own == 0 ? row[c] : 1;
    }
    if (cube_can_fall) l[CubeTest] = 0;
    std::swap(l[WastedSearches], h[WastedSearches]);  // more labels can only reduce their number
    h[Coverage] = l[Coverage];
  }
}

namespace {

/// The bounds of one conversation with an unread search, row by row.
class UnreadBounds {
 public:
  UnreadBounds(const CountedSearches& counted, const GainOptions& o, Values& none, Values& low, Values& high)
      : counted_(counted), o_(o), none_(none), low_(low), high_(high), pool_(counted, o, none) {
    const auto& iterations = counted.iterations;
    for (size_t i = 1; i <= iterations.size(); ++i) {
      has_.push_back(std::any_of(iterations[i - 1].searches.begin(), iterations[i - 1].searches.end(),
                                 [](const Searched& s) { return s.unread; }));
      if (!has_.back()) continue;
      if (!first_) first_ = i;
      last_ = i;
    }
    const double* row = none.data() + (first_ - 1) * column_count;
    gain_until_first_ = row[CG];
    discounted_until_first_ = row[DCG];
  }

  void bound() {
    const size_t n = counted_.iterations.size();
    const std::vector<double> unknown = count_unlabelled(counted_.iterations);
    double gain_before = 0, good_before = 0;
    for (size_t i = 1; i <= n; ++i) {
      double* v = none_.data() + (i - 1) * column_count;
      double* l = low_.data() + (i - 1) * column_count;
      double* h = high_.data() + (i - 1) * column_count;
      count_wasted(i);
      if (i < last_ && !o_.complete()) pool_may_grow(l);
      if (i >= first_) {
        const double gain = v[CG], good = v[GRAll];
        bound_iteration(i, gain_before, good_before, l, h);
        bound_cumulative(i, v, l, h);
        bound_shares(i, unknown, v, l, h);
        for (double* row : {v, l, h}) undefine(i, row);
        gain_before = gain, good_before = good;
      } else {
        gain_before = v[CG], good_before = v[GRAll];
      }
    }
  }

 private:
  /// Good results of later unread searches would enlarge the pool without limit.
  static void pool_may_grow(double* l) {
    for (const Column c : {nCG, nDCG, EvidenceRecall, nsDCG, AreaSearches, AreaSeconds, AreaTokens})
      if (!std::isnan(l[c])) l[c] = 0;
  }

  /// What depends on the number of results, or on which later ones are new.
  void undefine(size_t i, double* row) const {
    for (const Column c : {UR, Dup, AvgGain, RAll, URAll, DupRAll, RAG, DRAG, SRE, SRR, sDCG, nsDCG, Coverage})
      row[c] = nan;
    if (has_[i - 1]) row[R] = nan;
  }

  /// New results of this iteration: after an unread search all of them may be duplicates of its results.
  void bound_iteration(size_t i, double gain_before, double good_before, double* l, double* h) const {
    const auto searches = static_cast<double>(counted_.iterations[i - 1].searches.size());
    if (i > first_) l[G] = l[GR] = l[MarginalGain] = 0;
    if (!has_[i - 1]) return;
    h[G] = o_.complete() ? pool_.gain - gain_before : infinite;
    h[GR] = o_.complete() ? pool_.good - good_before : infinite;
    h[MarginalGain] = h[G] / searches;
  }

  void bound_cumulative(size_t i, const double* v, double* l, double* h) const {
    const auto at = static_cast<double>(i);
    const double w = o_.weight(first_);
    h[CG] = o_.complete() ? pool_.gain : infinite;
    h[GRAll] = o_.complete() ? pool_.good : infinite;
    h[DCG] = o_.complete() ? discounted_until_first_ + w * (pool_.gain - gain_until_first_) : infinite;
    h[RG] = h[CG] / at;
    h[DRG] = h[DCG] / at;
    const std::pair<Column, double> rates[] = {{GainPerSecond, h[CG] / v[Seconds]},
                                               {GainPer1kTokens, h[CG] * 1000 / v[Tokens]},
                                               {GainPerCost, h[CG] / v[Cost]}};
    for (const auto& [c, most] : rates)
      if (!std::isnan(v[c])) h[c] = most;
    l[CubeTest] = 0;
    h[CubeTest] = 1 / at;
    l[WastedSearches] = fewest_wasted_;
    h[WastedSearches] = most_wasted_;
    bound_last_good(i, v, l, h);
  }

  void bound_last_good(size_t i, const double* v, double* l, double* h) const {
    const double known = v[IterationsForAllGoodResults];
    double& lower = l[IterationsForAllGoodResults];
    double& upper = h[IterationsForAllGoodResults];
    size_t last_unread = i;
    while (!has_[last_unread - 1]) --last_unread;
    if (o_.complete() && pool_.good == 0) return;
    const bool more = !o_.complete() || std::any_of(counted_.missed.begin(), counted_.missed.end(),
                                                    [&](double gain) { return gain >= o_.threshold; });
    // Everything after the first unread search may have been in it; the last one may have brought more.
    if (std::isnan(known)) lower = std::isnan(lower) ? capped(first_) : std::min(lower, capped(first_));
    else lower = std::min(lower, std::max(capped(first_), 1.0));
    if (more) upper = std::isnan(upper) ? capped(last_unread) : std::max(upper, capped(last_unread));
  }

  void bound_shares(size_t i, const std::vector<double>& unknown, const double* v, double* l, double* h) const {
    if (o_.complete() && pool_.good == 0) return;
    h[nCG] = h[EvidenceRecall] = 1;
    for (const Column c : {AreaSearches, AreaSeconds, AreaTokens})
      if (!std::isnan(v[c])) l[c] = 0, h[c] = 1;
    // Whatever was not returned before the first unread search, it may have returned.
    const double w = o_.weight(first_), worth = o_.worth(o_.max_gain);
    double top = discounted_until_first_ + w * (pool_.gain - gain_until_first_), bottom = pool_.gain;
    for (size_t k = 1; k <= first_; ++k) {
      const double add = unknown[k - 1] * worth;
      if (add > 0 && (bottom <= 0 || o_.weight(k) > top / bottom)) top += o_.weight(k) * add, bottom += add;
    }
    h[nDCG] = bottom > 0 ? top / bottom : w;
    // Any number of good results in the last unread search pulls the mean of discounts towards its own.
    if (!o_.complete() && i >= last_ && !std::isnan(l[nDCG])) l[nDCG] = std::min(l[nDCG], o_.weight(last_));
  }

  /// A search is wasted if it brought nothing new and good. After an unread search any of them may be.
  void count_wasted(size_t i) {
    for (const Searched& s : counted_.iterations[i - 1].searches) {
      bool known_good = false, may_be_good = s.unread;
      for (const Returned& r : s.results) {
        if (!r.is_new) continue;
        known_good |= r.labelled && r.gain >= o_.threshold;
        may_be_good |= !r.labelled || r.gain >= o_.threshold;
      }
      fewest_wasted_ += !may_be_good;
      most_wasted_ += seen_unread_ || !known_good;
      seen_unread_ |= s.unread;
    }
  }

  const CountedSearches& counted_;
  const GainOptions& o_;
  Values &none_, &low_, &high_;
  Pool pool_;
  std::vector<bool> has_;  // per iteration: whether it has an unread search
  size_t first_ = 0, last_ = 0;
  double gain_until_first_ = 0, discounted_until_first_ = 0;
  double fewest_wasted_ = 0, most_wasted_ = 0;
  bool seen_unread_ = false;
};

}  // namespace

void bound_unread(const CountedSearches& counted, const GainOptions& o, Values& none, Values& low, Values& high) {
  UnreadBounds(counted, o, none, low, high).bound();
}

}  // namespace gg::gain
