// Exact bounds over the gains of unjudged documents, for measures in which judging a document changes more than its
// own contribution: the ideal list, the number of judged documents, or the worth of an aspect.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "kernels_families.hpp"

namespace gg {

namespace {

constexpr double most_steps = 2e8;  // worlds x documents

Interval nothing_yet() { return {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}; }

void include(Interval& bounds, double value) {
  bounds.lower = std::min(bounds.lower, value);
  bounds.upper = std::max(bounds.upper, value);
}

/// The query in a world in which every retrieved document is judged.
class World {
 public:
  explicit World(const Ranked& r) : base_(r), top_(std::max(r.max_gain, 1.0)) {
    size_t next = 0;
    for (uint32_t rank = 1; rank <= r.retrieved; ++rank) {
      if (next < r.hits.size() && r.hits[next].rank == rank) ++next;
      else unjudged_.push_back(rank);
    }
    const auto judged = static_cast<uint32_t>(r.query->gains.size());
    docs_.assign(r.query->docs.begin(), r.query->docs.end());
    docs_.insert(docs_.end(), r.unjudged_docs.begin(), r.unjudged_docs.end());
    hits_.assign(r.hits.begin(), r.hits.end());
    for (uint32_t i = 0; i < unjudged_.size(); ++i) hits_.push_back({unjudged_[i], judged + i});
    std::sort(hits_.begin(), hits_.end(), [](const Hit& a, const Hit& b) { return a.rank < b.rank; });
  }

  /// The ranks of the documents that nobody judged.
  const std::vector<uint32_t>& unjudged() const { return unjudged_; }
  double top() const { return top_; }

  /// The value if they had these gains, by rank, and were relevant to `aspects` if their gain is positive.
  double value(const Spec& s, std::span<const double> supposed, std::span<const uint32_t> aspects = {}) {
    const auto judged = static_cast<uint32_t>(base_.query->gains.size());
    gains_.assign(base_.query->gains.begin(), base_.query->gains.end());
    gains_.insert(gains_.end(), supposed.begin(), supposed.end());
    own_.assign(supposed.begin(), supposed.end());
    std::sort(own_.begin(), own_.end(), std::greater<>());
    sorted_.resize(gains_.size());
    std::merge(own_.begin(), own_.end(), base_.query->gains_sorted.begin(), base_.query->gains_sorted.end(),
               sorted_.begin(), std::greater<>());
    links_.assign(base_.query->aspects.begin(), base_.query->aspects.end());
    for (uint32_t i = 0; i < supposed.size(); ++i)
      if (supposed[i] > 0)
        for (const uint32_t label : aspects) links_.push_back({judged + i, label, supposed[i]});
    QueryJudgments query = *base_.query;
    query.docs = docs_;
    query.gains = gains_;
    query.gains_sorted = sorted_;
    query.aspects = links_;
    Ranked r = base_;
    r.query = &query;
    r.hits = hits_;
    r.unjudged = 0;
    r.max_gain = top_;
    return s.kernel->point(r, s);
  }

 private:
  Ranked base_;
  double top_;
  std::vector<uint32_t> unjudged_;
  std::vector<Bytes> docs_;
  std::vector<Hit> hits_;
  std::vector<double> gains_, sorted_, own_;
  std::vector<Link> links_;
};

/// Calls `use` with every collection of gains for the first `n` unjudged documents, highest gain first: how many of
/// them have each of the grades. False if there are too many.
template <class Use>
bool for_each_collection(const Ranked& r, size_t n, const std::vector<double>& descending, Use&& use) {
  const size_t grades = descending.size();
  double worlds = 1;
  for (size_t g = 1; g <= grades; ++g) worlds *= static_cast<double>(n + g) / static_cast<double>(g);
  if (worlds * static_cast<double>(r.retrieved + r.query->gains.size() + 1) > most_steps) return false;
  std::vector<size_t> counts(grades, 0);
  std::vector<double> gains(n);
  while (true) {
    size_t at = 0;
    for (size_t g = 0; g < grades; ++g)
      for (size_t i = 0; i < counts[g]; ++i) gains[at++] = descending[g];
    std::fill(gains.begin() + static_cast<std::ptrdiff_t>(at), gains.end(), 0.0);
    use(gains);
    size_t g = 0;  // the next collection: count up, carrying over where the documents are used up
    size_t used = at;
    while (g < grades && used == n) {
      used -= counts[g];
      counts[g++] = 0;
    }
    if (g == grades) return true;
    ++counts[g];
  }
}

/// For measures whose extremes, for any given collection of supposed gains, come with the highest gains at the first
/// ranks or at the last: exchanging two supposed gains so that the higher one moves up never lowers them. Below a
/// cutoff documents only raise the ideal, so they count nothing for the maximum and the most for the minimum.
Interval by_counts(const Ranked& r, const Spec& s, const std::vector<double>& descending) {
  World world(r);
  const auto& ranks = world.unjudged();
  const auto inside =
      static_cast<size_t>(s.cutoff ? std::upper_bound(ranks.begin(), ranks.end(), s.cutoff) - ranks.begin()
                                   : static_cast<std::ptrdiff_t>(ranks.size()));
  Interval bounds = nothing_yet();
  std::vector<double> supposed(ranks.size());
  const bool all = for_each_collection(r, inside, descending, [&](const std::vector<double>& gains) {
    std::fill(supposed.begin(), supposed.end(), 0.0);
    std::copy(gains.begin(), gains.end(), supposed.begin());
    bounds.upper = std::max(bounds.upper, world.value(s, supposed));
    std::fill(supposed.begin(), supposed.end(), descending.front());
    std::copy(gains.rbegin(), gains.rend(), supposed.begin());
    bounds.lower = std::min(bounds.lower, world.value(s, supposed));
  });
  return all ? bounds : Interval{undefined, undefined};
}

/// The grades that an unjudged document may have, above 0, highest first.
std::vector<double> grades_of(const Ranked& r) {
  std::set<double, std::greater<>> grades{std::max(r.max_gain, 1.0)};
  for (const double gain : r.query->gains_sorted)
    if (gain > 0) grades.insert(gain);
  return {grades.begin(), grades.end()};
}

Interval graded_bounds(const Ranked& r, const Spec& s) { return by_counts(r, s, grades_of(r)); }

/// Only whether a document is relevant matters.
Interval binary_bounds(const Ranked& r, const Spec& s) { return by_counts(r, s, {std::max(r.max_gain, 1.0)}); }

// --- aspects: an unjudged document may be relevant to any of those that count ---

/// The aspects with a relevant document; without a column of aspects there is one. False if none is known.
bool aspects_that_count(const Ranked& r, const Spec& s, std::vector<uint32_t>& aspects) {
  std::set<uint32_t> labels;
  for (const Link& link : r.query->aspects)
    if (link.gain >= s.rel) labels.insert(link.label);
  aspects.assign(labels.begin(), labels.end());
  return !aspects.empty() || r.query->aspects.empty();
}

/// A document that meets another aspect adds more than repetitions below it lose: none, or all of all.
Interval aspect_bounds(const Ranked& r, const Spec& s) {
  std::vector<uint32_t> aspects;
  if (!aspects_that_count(r, s, aspects)) return {undefined, undefined};
  World world(r);
  const std::vector<double> none(world.unjudged().size(), 0.0), all(world.unjudged().size(), world.top());
  Interval bounds = nothing_yet();
  include(bounds, world.value(s, none));
  include(bounds, world.value(s, all, aspects));
  return bounds;
}

/// Average precision of one aspect: relevant judged documents, and some of those that nobody judged.
Interval average_precision_bounds(const std::vector<uint32_t>& relevant, uint32_t judged,
                                  const std::vector<uint32_t>& unjudged, uint32_t k) {
  Interval bounds = nothing_yet();
  std::vector<uint32_t> ranks;
  for (size_t n = 0; n <= unjudged.size(); ++n) {
    for (const bool first : {true, false}) {
      const auto from = first ? unjudged.begin() : unjudged.end() - static_cast<std::ptrdiff_t>(n);
      ranks = relevant;
      ranks.insert(ranks.end(), from, from + static_cast<std::ptrdiff_t>(n));
      std::sort(ranks.begin(), ranks.end());
      double sum = 0;
      for (size_t i = 0; i < ranks.size() && ranks[i] <= k; ++i) sum += (static_cast<double>(i) + 1) / ranks[i];
      const double all = judged + static_cast<double>(n);
      include(bounds, all > 0 ? sum / all : 0);
    }
  }
  return bounds;
}

/// The mean over aspects, each of which has its extremes by itself.
Interval ap_ia_bounds(const Ranked& r, const Spec& s) {
  std::vector<uint32_t> aspects;
  if (!aspects_that_count(r, s, aspects)) return {undefined, undefined};
  const bool plain = r.query->aspects.empty();
  if (plain) aspects = {0};
  const World world(r);
  const bool can_be_relevant = world.top() >= s.rel;
  const std::vector<uint32_t> unjudged = can_be_relevant ? world.unjudged() : std::vector<uint32_t>{};
  Interval sum{0, 0};
  for (const uint32_t aspect : aspects) {
    std::vector<bool> relevant_doc(r.query->gains.size(), false);
    if (plain)
      for (size_t d = 0; d < relevant_doc.size(); ++d) relevant_doc[d] = r.query->gains[d] >= s.rel;
    for (const Link& link : r.query->aspects)
      if (link.label == aspect && link.gain >= s.rel) relevant_doc[link.judgment] = true;
    std::vector<uint32_t> ranks;
    for (const Hit& hit : r.hits)
      if (relevant_doc[hit.judgment]) ranks.push_back(hit.rank);
    const auto judged = static_cast<uint32_t>(std::count(relevant_doc.begin(), relevant_doc.end(), true));
    const Interval own = average_precision_bounds(ranks, judged, unjudged, depth(r, s));
    sum.lower += own.lower;
    sum.upper += own.upper;
  }
  const auto count = static_cast<double>(aspects.size());
  return {sum.lower / count, sum.upper / count};
}

}  // namespace

UnjudgedSearch exact_unjudged_bounds(std::string_view kernel) {
  if (kernel == "bpref" || kernel == "infap") return binary_bounds;
  if (kernel == "compat" || kernel == "nerr" || kernel == "rndcg") return graded_bounds;
  if (kernel == "st_recall" || kernel == "p_ia" || kernel == "alpha_dcg" || kernel == "err_ia" || kernel == "nrbp")
    return aspect_bounds;
  if (kernel == "ap_ia") return ap_ia_bounds;
  return novelty_unjudged_bounds(kernel);
}

}  // namespace gg
