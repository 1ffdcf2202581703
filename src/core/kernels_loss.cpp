// RaDiCuGLoss of lists and tables.
#include <algorithm>
#include <vector>

#include "kernels_families.hpp"
#include "loss.hpp"

namespace gg {

GainLoss::GainLoss(std::vector<double> worths, const Spec& spec, bool inverted, double max_rank)
    : spec_(spec), inverted_(inverted), sorted_(std::move(worths)), max_rank_(max_rank) {
  std::sort(sorted_.begin(), sorted_.end(), std::greater<>());
  for (size_t i = 0; i < sorted_.size(); ++i)
    group_.push_back(i == 0 ? 1 : group_[i - 1] + (sorted_[i] != sorted_[i - 1]));
  if (sorted_.empty()) return;
  if (spec_.reference) {
    // The published package scores the perfect list with inverted ranks, whatever the caller chose.
    for (uint32_t i = 0; i < sorted_.size(); ++i) {
      const double rank = inverted_ ? max_rank_ + 1 - sorted_[i] : sorted_[i];
      const double turned = max_rank_ + 1 - rank;
      const double assumed = reference_assumed(i + 1, true);
      perfect_ += (std::exp2(std::min(turned, assumed)) - 1) / std::log2(std::max(turned, assumed) + 2);
    }
  } else {
    for (uint32_t i = 0; i < sorted_.size(); ++i) {
      const double gain = earned(sorted_[i], i + 1);
      perfect_ += gain;
      max_gain_ = std::max(max_gain_, gain);
    }
  }
}

double GainLoss::place(uint32_t position) const {
  return position <= group_.size() ? group_[position - 1] : group_.back();
}

double GainLoss::documented_gain(double worth, double a) const { return (std::exp2(worth) - 1) / std::log2(a + 1); }

/// The true rank at a position of the ascending order, 0 past the end; inverted like the true ranks.
double GainLoss::reference_assumed(uint32_t position, bool inverted) const {
  const size_t n = sorted_.size();
  double rank = 0;
  if (position <= n)  // ascending ranks are descending worths if inverted, ascending ones if not
    rank = inverted_ ? max_rank_ + 1 - sorted_[position - 1] : sorted_[n - position];
  return inverted ? max_rank_ + 1 - rank : rank;
}

double GainLoss::earned(double worth, uint32_t position) const {
  if (!spec_.reference) return documented_gain(worth, place(position));
  const double assumed = reference_assumed(position, inverted_);
  return (std::exp2(std::min(worth, assumed)) - 1) / std::log2(std::max(worth, assumed) + 2);
}

double GainLoss::false_positive(uint32_t position, double last) const {
  if (spec_.fp_penalty == 0 || sorted_.empty()) return 0;
  if (spec_.reference) return spec_.fp_penalty / std::log2(spec_.punish_max ? max_rank_ + 1 : last + 2);
  if (spec_.punish_max) return spec_.fp_penalty * max_gain_;
  const double correct = position <= sorted_.size() ? sorted_[position - 1] : sorted_.back();
  return spec_.fp_penalty * documented_gain(correct, place(position));
}

double GainLoss::false_negative(double worth) const {
  if (spec_.fn_penalty == 0) return 0;
  if (spec_.reference) return spec_.punish_max ? spec_.fn_penalty : spec_.fn_penalty / std::log2(max_rank_ + 2 - worth);
  if (spec_.punish_max) return spec_.fn_penalty * max_gain_;
  const auto own = std::find(sorted_.begin(), sorted_.end(), worth);
  return spec_.fn_penalty * documented_gain(worth, group_[static_cast<size_t>(own - sorted_.begin())]);
}

double gain_loss(std::span<const double> list, std::span<const double> missing, std::vector<double> worths,
                 const Spec& spec, bool inverted, double max_rank, bool normalise) {
  const GainLoss items(std::move(worths), spec, inverted, max_rank);
  const size_t n = spec.cutoff ? std::min<size_t>(spec.cutoff, list.size()) : list.size();
  double score = 0, last = GainLoss::start;
  for (uint32_t i = 0; i < n; ++i) {
    if (std::isnan(list[i])) {
      score -= items.false_positive(i + 1, last);
    } else {
      score += items.earned(list[i], i + 1);
      last = list[i];
    }
  }
  for (const double worth : missing) score -= items.false_negative(worth);
  if (!normalise) return score;
  return items.perfect() != 0 ? score / items.perfect() : 0;
}

namespace {

/// In tables the true items are the relevant documents, with their gain as worth: the highest gain is rank 1
/// inverted.
GainLoss items_of(const Ranked& r, const Spec& s) {
  std::vector<double> worths;
  for (const double gain : r.query->gains)
    if (gain >= s.rel) worths.push_back(gain);
  return {std::move(worths), s, true, r.query->gains_sorted.empty() ? 0 : r.query->gains_sorted.front()};
}

double missing_cost(const Ranked& r, const Spec& s, const GainLoss& items) {
  std::vector<bool> retrieved(r.query->gains.size(), false);
  for (const Hit& hit : r.hits) retrieved[hit.judgment] = true;
  double cost = 0;
  for (size_t d = 0; d < retrieved.size(); ++d)
    if (!retrieved[d] && r.query->gains[d] >= s.rel) cost += items.false_negative(r.query->gains[d]);
  return cost;
}

double rdcgl(const Ranked& r, const Spec& s) {
  const GainLoss items = items_of(r, s);
  const uint32_t k = std::min(depth(r, s), r.retrieved);
  double score = -missing_cost(r, s, items), last = GainLoss::start;
  size_t next = 0;
  for (uint32_t rank = 1; rank <= k; ++rank) {
    while (next < r.hits.size() && r.hits[next].rank < rank) ++next;
    const bool is_true = next < r.hits.size() && r.hits[next].rank == rank && relevant(r, r.hits[next], s);
    if (is_true) {
      last = gain_of(r, r.hits[next]);
      score += items.earned(last, rank);
    } else {
      score -= items.false_positive(rank, last);
    }
  }
  return score;
}

struct Outcome {
  double lower = 0, upper = 0, mean = 0;
};

/// All orders of tied documents at once, from the last rank to the first: the remaining score depends on the number of
/// documents of each kind above in the block and on the last true item.
class Orders {
 public:
  Orders(const Ranked& r, const Spec& s)
      : r_(r), s_(s), items_(items_of(r, s)), k_(std::min(depth(r, s), r.retrieved)) {
    for (const double gain : r.query->gains)
      if (gain >= s.rel) kinds_.push_back(gain);
    std::sort(kinds_.begin(), kinds_.end());
    kinds_.erase(std::unique(kinds_.begin(), kinds_.end()), kinds_.end());
  }

  Outcome solve() {
    // rest_[l]: the score of the ranks below the current one if the last true item is of kind l (kinds_.size():
    // none yet).
    rest_.assign(kinds_.size() + 1, Outcome{});
    uint32_t end = r_.retrieved + 1;  // ranks from here on are done
    for (size_t b = r_.blocks.size(); b-- > 0;) {
      const Block& block = r_.blocks[b];
      false_positives(block.first + block.size, end);
      if (!block_orders(block)) return {undefined, undefined, undefined};
      end = block.first;
    }
    false_positives(1, end);
    const double cost = missing_cost(r_, s_, items_);
    const Outcome& o = rest_[kinds_.size()];
    return {o.lower - cost, o.upper - cost, o.mean - cost};
  }

  const GainLoss& items() const { return items_; }

 private:
  double last_worth(size_t last) const { return last < kinds_.size() ? kinds_[last] : GainLoss::start; }

  void false_positives(uint32_t first, uint32_t end) {
    for (uint32_t rank = first; rank < end && rank <= k_; ++rank)
      for (size_t last = 0; last < rest_.size(); ++last)
        add(rest_[last], -items_.false_positive(rank, last_worth(last)));
  }

  static void add(Outcome& o, double x) {
    o.lower += x;
    o.upper += x;
    o.mean += x;
  }

  bool block_orders(const Block& block) {
    const size_t kinds = kinds_.size(), lasts = kinds + 1;
    std::vector<uint32_t> sizes(kinds + 1, 0);  // the last one: false positives
    sizes[kinds] = block.size;
    for (uint32_t h = block.begin; h < block.end; ++h) {
      const double gain = gain_of(r_, r_.hits[h]);
      if (gain < s_.rel) continue;
      ++sizes[static_cast<size_t>(std::lower_bound(kinds_.begin(), kinds_.end(), gain) - kinds_.begin())];
      --sizes[kinds];
    }
    std::vector<size_t> stride(sizes.size());
    double states = 1;
    for (size_t kind = 0; kind < sizes.size(); ++kind) {
      stride[kind] = static_cast<size_t>(states) * lasts;
      states *= sizes[kind] + 1.0;
      if (states * static_cast<double>(lasts) > search_limit) return false;
    }
    const auto n = static_cast<size_t>(states);
    std::vector<Outcome> table(n * lasts);
    for (size_t last = 0; last < lasts; ++last) table[(n - 1) * lasts + last] = rest_[last];
    std::vector<uint32_t> used(sizes.size());
    for (size_t state = n - 1; state-- > 0;) {
      uint32_t placed = 0;
      for (size_t kind = 0, left = state; kind < sizes.size(); ++kind) {
        used[kind] = static_cast<uint32_t>(left % (sizes[kind] + 1));
        left /= sizes[kind] + 1;
        placed += used[kind];
      }
      const uint32_t rank = block.first + placed;
      for (size_t last = 0; last < lasts; ++last) {
        Outcome here{INFINITY, -INFINITY, 0};
        for (size_t kind = 0; kind < sizes.size(); ++kind) {
          if (used[kind] == sizes[kind]) continue;
          const bool is_true = kind < kinds;
          double added = 0;
          if (rank <= k_)
            added = is_true ? items_.earned(kinds_[kind], rank) : -items_.false_positive(rank, last_worth(last));
          const Outcome& next = table[state * lasts + stride[kind] + (is_true ? kind : last)];
          here.lower = std::min(here.lower, next.lower + added);
          here.upper = std::max(here.upper, next.upper + added);
          here.mean += (next.mean + added) * (sizes[kind] - used[kind]) / (block.size - placed);
        }
        table[state * lasts + last] = here;
      }
    }
    rest_.assign(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(lasts));
    return true;
  }

  const Ranked& r_;
  const Spec& s_;
  GainLoss items_;
  uint32_t k_;
  std::vector<double> kinds_;
  std::vector<Outcome> rest_;
};

/// If the loss of a false positive depends only on its rank, the score is linear in the true items: each earns its
/// gain and saves the loss of a false positive at its rank.
double expected_rdcgl(const Ranked& r, const Spec& s) {
  const GainLoss items = items_of(r, s);
  if (items.costs_depend_on_last()) return Orders(r, s).solve().mean;
  const uint32_t k = std::min(depth(r, s), r.retrieved);
  double score = -missing_cost(r, s, items);
  for (uint32_t rank = 1; rank <= k; ++rank) score -= items.false_positive(rank, GainLoss::start);
  for (const Block& block : r.blocks)
    for (uint32_t h = block.begin; h < block.end; ++h) {
      if (!relevant(r, r.hits[h], s)) continue;
      double sum = 0;
      for (uint32_t j = 0; j < block.size && block.first + j <= k; ++j)
        sum += items.earned(gain_of(r, r.hits[h]), block.first + j) +
               items.false_positive(block.first + j, GainLoss::start);
      score += sum / block.size;
    }
  return score;
}

/// In the documented form moving a better item up never lowers the score; in the reference form it may.
Interval search_rdcgl(const Ranked& r, const Spec& s) {
  if (s.reference) {
    const Outcome o = Orders(r, s).solve();
    return {o.lower, o.upper};
  }
  return sorted_tie_bounds(r, s, rdcgl);
}

double over_perfect(const Ranked& r, const Spec& s, double score) {
  const double perfect = items_of(r, s).perfect();
  return perfect != 0 ? score / perfect : 0;
}

double nrdcgl(const Ranked& r, const Spec& s) { return over_perfect(r, s, rdcgl(r, s)); }
double expected_nrdcgl(const Ranked& r, const Spec& s) { return over_perfect(r, s, expected_rdcgl(r, s)); }
Interval search_nrdcgl(const Ranked& r, const Spec& s) {
  const Interval i = search_rdcgl(r, s);
  return {over_perfect(r, s, i.lower), over_perfect(r, s, i.upper)};
}

double not_below_zero(double x) { return std::isnan(x) ? x : std::max(x, 0.0); }
double pnrdcgl(const Ranked& r, const Spec& s) { return not_below_zero(nrdcgl(r, s)); }
Interval search_pnrdcgl(const Ranked& r, const Spec& s) {
  const Interval i = search_nrdcgl(r, s);
  return {not_below_zero(i.lower), not_below_zero(i.upper)};
}

/// Enumerates all orders of the kinds of documents, for means that have no closed form.
class EveryOrder {
 public:
  EveryOrder(const Ranked& r, const Spec& s)
      : r_(r), s_(s), items_(items_of(r, s)), k_(std::min(depth(r, s), r.retrieved)), list_(r.retrieved, undefined) {
    double orders = 1;
    for (const Block& block : r.blocks) {
      std::vector<double> tied(block.size, false_positive);
      for (uint32_t h = block.begin; h < block.end; ++h)
        if (relevant(r, r.hits[h], s)) tied[h - block.begin] = gain_of(r, r.hits[h]);
      std::sort(tied.begin(), tied.end());
      for (size_t i = 0, alike = 0; i < tied.size(); ++i) {  // the multinomial count, one document at a time
        alike = i > 0 && tied[i] == tied[i - 1] ? alike + 1 : 1;
        orders *= static_cast<double>(i + 1) / static_cast<double>(alike);
      }
      blocks_.push_back(std::move(tied));
    }
    too_many_ = orders * r.retrieved > search_limit * 10;
  }

  /// The mean of `value(score)` over all orders; undefined if there are too many.
  template <class Value>
  double mean(Value&& value) {
    if (too_many_) return undefined;
    double sum = 0, orders = 0;
    visit(0, [&] {
      sum += value(score());
      ++orders;
    });
    return sum / orders;
  }

 private:
  static constexpr double false_positive = -1;  // sorts before every gain

  template <class Done>
  void visit(size_t b, Done&& done) {
    if (b == blocks_.size()) return done();
    std::vector<double> tied = blocks_[b];
    do {
      for (size_t i = 0; i < tied.size(); ++i)
        list_[r_.blocks[b].first - 1 + i] = tied[i] == false_positive ? undefined : tied[i];
      visit(b + 1, done);
    } while (std::next_permutation(tied.begin(), tied.end()));
  }

  double score() const {
    double sum = -missing_cost(r_, s_, items_), last = GainLoss::start;
    for (uint32_t rank = 1; rank <= k_; ++rank) {
      const double worth = list_[rank - 1];
      if (std::isnan(worth)) sum -= items_.false_positive(rank, last);
      else sum += items_.earned(last = worth, rank);
    }
    return sum;
  }

  const Ranked& r_;
  const Spec& s_;
  GainLoss items_;
  uint32_t k_;
  std::vector<double> list_;
  std::vector<std::vector<double>> blocks_;
  bool too_many_ = false;
};

/// Clipping at zero is not linear: if some orders are below zero and others not, each must be evaluated.
double expected_pnrdcgl(const Ranked& r, const Spec& s) {
  const Interval i = search_nrdcgl(r, s);
  if (i.lower >= 0) return expected_nrdcgl(r, s);
  if (i.upper <= 0) return 0;
  return EveryOrder(r, s).mean([&](double score) { return not_below_zero(over_perfect(r, s, score)); });
}

}  // namespace

std::span<const Kernel> loss_kernels() {
  using enum TieBounds;
  static const Kernel table[] = {
      {"rdcgl", rdcgl, expected_rdcgl, search, UnjudgedBounds::refuse, search_rdcgl},
      {"nrdcgl", nrdcgl, expected_nrdcgl, search, UnjudgedBounds::refuse, search_nrdcgl},
      {"pnrdcgl", pnrdcgl, expected_pnrdcgl, search, UnjudgedBounds::refuse, search_pnrdcgl},
  };
  return table;
}

}  // namespace gg
