// The list of all kernels, and bounds that work for any of them.
#include "kernels.hpp"

#include <algorithm>
#include <vector>

#include "kernels_families.hpp"

namespace gg {

std::span<const Kernel> kernels() {
  static const std::vector<Kernel> all = [] {
    std::vector<Kernel> list;
    for (const auto family : {gain_kernels(), binary_kernels(), novelty_kernels(), loss_kernels(), coverage_kernels(),
                              trec_eval_kernels(), cwl_kernels()})
      list.insert(list.end(), family.begin(), family.end());
    return list;
  }();
  return all;
}

const Kernel* find_kernel(std::string_view name) {
  for (const Kernel& kernel : kernels())
    if (kernel.name == name) return &kernel;
  return nullptr;
}

namespace {

/// The hits with each block in its best order (judged documents first, by gain) or its worst.
std::vector<Hit> arranged(const Ranked& r, bool best) {
  std::vector<Hit> hits(r.hits.begin(), r.hits.end());
  for (const Block& block : r.blocks) {
    const auto begin = hits.begin() + block.begin, end = hits.begin() + block.end;
    std::sort(begin, end, [&](const Hit& a, const Hit& b) {
      return best ? gain_of(r, a) > gain_of(r, b) : gain_of(r, a) < gain_of(r, b);
    });
    uint32_t rank = best ? block.first : block.first + block.size - (block.end - block.begin);
    for (auto hit = begin; hit != end; ++hit) hit->rank = rank++;
  }
  return hits;
}

}  // namespace

Interval sorted_tie_bounds(const Ranked& r, const Spec& s, double (*point)(const Ranked&, const Spec&)) {
  Ranked ordered = r;
  const auto best = arranged(r, true), worst = arranged(r, false);
  ordered.hits = best;
  const double one = point(ordered, s);
  ordered.hits = worst;
  const double other = point(ordered, s);
  return {std::min(one, other), std::max(one, other)};
}

Interval tie_bounds(const Ranked& r, const Spec& s) {
  switch (s.kernel->tie_bounds) {
    case TieBounds::fixed: {
      const double value = s.kernel->point(r, s);
      return {value, value};
    }
    case TieBounds::search: return s.kernel->search(r, s);
    default: return sorted_tie_bounds(r, s, s.kernel->point);
  }
}

// --- unjudged documents: bounds over their gains ---

namespace {

/// The query under the assumption that some unjudged documents are relevant.
class Supposed {
 public:
  explicit Supposed(const Ranked& r) : base_(r), top_(std::max(r.max_gain, 1.0)) {
    size_t next = 0;
    for (uint32_t rank = 1; rank <= r.retrieved; ++rank) {
      if (next < r.hits.size() && r.hits[next].rank == rank) ++next;
      else unjudged_.push_back(rank);
    }
  }

  /// The ranks of unjudged documents.
  const std::vector<uint32_t>& unjudged() const { return unjudged_; }
  double top() const { return top_; }

  /// The value if the first or last `count` unjudged documents had the highest gain.
  double value(const Spec& s, uint32_t count, bool first) {
    const auto docs = base_.query->gains.size();
    if (gains_.empty()) gains_.assign(base_.query->gains.begin(), base_.query->gains.end());
    gains_.resize(docs + count, top_);
    sorted_.assign(count, top_);
    sorted_.insert(sorted_.end(), base_.query->gains_sorted.begin(), base_.query->gains_sorted.end());
    const size_t skip = first ? 0 : unjudged_.size() - count;
    hits_.clear();
    size_t next = 0;
    for (const Hit& hit : base_.hits) {
      for (; next < count && unjudged_[skip + next] < hit.rank; ++next)
        hits_.push_back({unjudged_[skip + next], static_cast<uint32_t>(docs + next)});
      hits_.push_back(hit);
    }
    for (; next < count; ++next) hits_.push_back({unjudged_[skip + next], static_cast<uint32_t>(docs + next)});
    QueryJudgments query = *base_.query;
    query.gains = gains_;
    query.gains_sorted = sorted_;
    Ranked r = base_;
    r.query = &query;
    r.hits = hits_;
    r.max_gain = top_;
    return s.kernel->point(r, s);
  }

 private:
  Ranked base_;
  double top_;
  std::vector<uint32_t> unjudged_;
  std::vector<double> gains_, sorted_;
  std::vector<Hit> hits_;
};

/// The extreme over all numbers of relevant documents: for a fixed number, the first ranks help most and the last
/// least.
double scan(const Ranked& r, const Spec& s, bool highest) {
  Supposed supposed(r);
  double extreme = (highest ? -1 : 1) * std::numeric_limits<double>::infinity();
  for (uint32_t n = 0; n <= supposed.unjudged().size(); ++n) {
    const double value = supposed.value(s, n, highest);
    extreme = highest ? std::max(extreme, value) : std::min(extreme, value);
  }
  return extreme;
}

/// The maximum of nDCG. A gain is a stack of steps between grades; for each step choose how many unjudged documents
/// (the first ones) reach it. DCG and the ideal are sums over steps, so for a bound `ratio` on nDCG each step maximises
/// DCG - ratio x ideal independently; raising the bound to the value reached converges to the maximum.
double highest_ndcg(const Ranked& r, const Spec& s) {
  Supposed supposed(r);
  if (s.ideal_retrieved) return undefined;
  const auto& free = supposed.unjudged();
  const uint32_t k = s.cutoff ? s.cutoff : std::numeric_limits<uint32_t>::max();
  const auto judged = r.query->gains_sorted;

  std::vector<double> grades;  // ascending, above 0
  for (const double gain : judged)
    if (gain > 0 && (grades.empty() || grades.back() != gain)) grades.push_back(gain);
  if (grades.empty() || grades.front() < supposed.top()) grades.insert(grades.begin(), supposed.top());
  std::reverse(grades.begin(), grades.end());

  struct Step {
    double height, retrieved;
    uint32_t judged;
  };
  std::vector<Step> steps;
  double below = 0;
  for (const double grade : grades) {
    Step step{graded(grade, s) - below, 0, r.query->count_at_least(grade)};
    for (const Hit& hit : r.hits)
      if (hit.rank <= k && gain_of(r, hit) >= grade) step.retrieved += 1 / log2_rank(hit.rank);
    steps.push_back(step);
    below = graded(grade, s);
  }
  const auto discount = [k](uint32_t rank) { return rank <= k ? 1 / log2_rank(rank) : 0.0; };

  double ratio = 0;
  for (int round = 0; round < 100; ++round) {
    double dcg = 0, ideal = 0;
    for (const Step& step : steps) {
      double gained = 0, needed = 0;
      for (uint32_t i = 1; i <= step.judged; ++i) needed += discount(i);
      double best = gained - ratio * needed, best_gained = gained, best_needed = needed;
      for (uint32_t n = 0; n < free.size(); ++n) {
        gained += discount(free[n]);
        needed += discount(step.judged + n + 1);
        if (gained - ratio * needed > best) best = gained - ratio * needed, best_gained = gained, best_needed = needed;
      }
      dcg += step.height * (step.retrieved + best_gained);
      ideal += step.height * best_needed;
    }
    const double reached = ideal > 0 ? dcg / ideal : 0;
    if (reached <= ratio) return ratio;
    ratio = reached;
  }
  return ratio;
}

}  // namespace

Interval unjudged_bounds(const Ranked& r, const Spec& s) {
  if (const UnjudgedSearch search = exact_unjudged_bounds(s.kernel->name)) return search(r, s);
  switch (s.kernel->unjudged_bounds) {
    case UnjudgedBounds::fixed: {
      const double value = s.kernel->point(r, s);
      return {value, value};
    }
    case UnjudgedBounds::all: {
      Supposed supposed(r);
      const double none = s.kernel->point(r, s);
      const double all = supposed.value(s, static_cast<uint32_t>(supposed.unjudged().size()), true);
      return {std::min(none, all), std::max(none, all)};
    }
    case UnjudgedBounds::scan: return {scan(r, s, false), scan(r, s, true)};
    case UnjudgedBounds::layers: return {scan(r, s, false), highest_ndcg(r, s)};
    default: return {undefined, undefined};
  }
}

}  // namespace gg
