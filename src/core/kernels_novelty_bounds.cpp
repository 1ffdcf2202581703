// Exact bounds over unjudged documents for DR, Diversity and the measures over a greedy ideal list.
//
// An unjudged document may be relevant to any set of the aspects or targets that have a relevant document. A target may
// also be new: as a judged document without a target is its own, so may an unjudged one be.
#include <limits>
#include <utility>

#include "kernels_labels.hpp"
#include "parallel.hpp"

namespace gg {
namespace {

/// What the bounds over distinct targets need to know.
struct Coverage {
  double met = 0;     // targets of judged documents in the first k
  double unmet = 0;   // targets that an unjudged document in the first k may meet besides: known, with a name
  double known = 0;   // targets that have a relevant document
  double inside = 0;  // unjudged documents in the first k
  double below = 0;   // and further down
};

Coverage coverage(const Ranked& r, const Spec& s) {
  const Labels labels = targets(r, s);
  const uint32_t k = depth(r, s);
  Coverage c{.known = static_cast<double>(labels.count())};
  std::vector<bool> seen(labels.size(), false);
  uint32_t judged = 0;
  for (const Hit& hit : r.hits) {
    if (hit.rank > k) break;
    ++judged;
    for (const uint32_t label : labels.of(hit))
      if (!seen[label]) seen[label] = true, ++c.met;
  }
  if (std::max(r.max_gain, 1.0) < s.rel) return c;  // an unjudged document cannot be relevant
  c.inside = std::min(k, r.retrieved) - judged;
  c.below = r.unjudged - c.inside;
  for (uint32_t label = 0; c.inside > 0 && label < r.query->named_targets; ++label)
    c.unmet += labels.documents(label) > 0 && !seen[label];
  return c;
}

/// None is relevant; or each in the first k is a target of its own, and one of them meets all that have names.
Interval diversity_bounds(const Ranked& r, const Spec& s) {
  const Coverage c = coverage(r, s);
  return {c.met, c.met + c.unmet + c.inside};
}

/// New targets further down only lower the share; new ones in the first k raise both of its terms, so raise it.
Interval dr_bounds(const Ranked& r, const Spec& s) {
  const Coverage c = coverage(r, s);
  return {share(c.met, c.known + c.below), share(c.met + c.unmet + c.inside, c.known + c.inside)};
}

// --- measures over a greedy ideal list ---

constexpr double most_steps = 2e8;
constexpr double rounding = 1e-12;
constexpr uint32_t most_aspects = 16;

using LabelSet = std::vector<uint32_t>;

struct Document {
  Bytes id;
  LabelSet labels;
};

/// The extremes of novelty / ideal. Documents below the cutoff change only the ideal. The greedy ideal may fall when a
/// document is added, so all of its courses are followed: at each rank it takes the best of the other documents, or one
/// from below with any aspects that gain at least as much.
class IdealSearch {
 public:
  IdealSearch(const Ranked& r, const Spec& s, Weight weight)
      : labels_(aspects(r, s)), alpha_(s.alpha), depth_(s.cutoff ? s.cutoff : r.query->docs.size() + r.unjudged) {
    for (uint32_t label = 0; label < labels_.size(); ++label)
      if (labels_.documents(label) > 0 || r.query->aspects.empty()) known_.push_back(label);
    const bool can_be_relevant = std::max(r.max_gain, 1.0) >= s.rel;
    const uint32_t k = depth(r, s);
    size_t next = 0, unknown = 0;
    for (uint32_t rank = 1; rank <= r.retrieved; ++rank) {
      if (next < r.hits.size() && r.hits[next].rank == rank) {
        if (rank <= k) list_.push_back({labels_.of(r.hits[next]), 0, weight(rank, s)});
        ++next;
        continue;
      }
      const Bytes id = r.unjudged_docs[unknown++];
      if (!can_be_relevant) continue;
      if (rank <= k) {
        inside_.push_back({id, {}});
        list_.push_back({{}, inside_.size(), weight(rank, s)});
      } else {
        below_.push_back({id, {}});
      }
    }
    for (uint32_t d = 0; d < labels_.all().size(); ++d)
      if (!labels_.all()[d].empty()) judged_.push_back({r.query->docs[d], labels_.all()[d]});
    std::sort(below_.begin(), below_.end(), later);
    const size_t longest = std::min<size_t>(depth_, judged_.size() + inside_.size() + below_.size());
    for (uint32_t rank = 1; rank <= longest; ++rank) weights_.push_back(weight(rank, s));
  }

  /// The extremes; undefined if there are too many cases for one of them.
  Interval bounds(double point) {
    if (inside_.empty() && below_.empty()) return {point, point};
    if (known_.empty() || known_.size() > most_aspects) return {undefined, undefined};
    bounds_ = {point, point};
    // With enough documents below, the highest novelty of any list is an ideal, whatever else there is.
    const bool full_below = below_.size() >= depth_;
    if (full_below) lower_with_full_below();
    const std::vector<Document*> listed = pointers(inside_);
    if (!afford(worlds(listed.size()) * greedy_cost())) return {undefined, undefined};
    for (uint32_t mask = 0; mask < 1u << known_.size(); ++mask) sets_.push_back(set_of(mask));
    for_each_world(listed, [&] {
      const double sum = novelty();
      include(sum, greedy());
      if (full_below) return;
      all_below(known_);
      include(sum, greedy());
      all_below({});
    });
    if (below_.empty()) return bounds_;
    const bool exact = follow_all(listed, true) && (full_below || follow_all(listed, false));
    return exact || try_all() ? bounds_ : Interval{undefined, undefined};
  }

 private:
  struct Place {
    LabelSet labels;
    size_t inside;  // number of the unjudged document, from 1; 0 for a judged one
    double weight;
  };
  /// A document that an ideal took from below: its aspects, and the document whose id it beats.
  struct Taken {
    LabelSet labels;
    const Document* above;  // null: any
  };

  static bool later(const Document& a, const Document& b) { return a.id > b.id; }

  double greedy_cost() const {
    const size_t documents = judged_.size() + inside_.size() + 1;
    return 2 * static_cast<double>((weights_.size() + 1) * documents + below_.size());
  }

  bool afford(double steps) {
    steps_ += steps;
    return steps_ <= most_steps;
  }

  void include(double sum, double ideal) {
    const double value = share(sum, ideal);
    bounds_.lower = std::min(bounds_.lower, value);
    bounds_.upper = std::max(bounds_.upper, value);
  }

  void lower_with_full_below() {
    all_below(known_);
    for (Document& d : inside_) d.labels.clear();
    include(novelty(), greedy());
    all_below({});
  }

  void all_below(const LabelSet& labels) {
    for (Document& d : below_) d.labels = labels;
  }

  double worlds(size_t documents) const {
    return std::exp2(static_cast<double>(known_.size()) * static_cast<double>(documents));
  }

  static std::vector<Document*> pointers(std::vector<Document>& documents) {
    std::vector<Document*> all;
    for (Document& d : documents) all.push_back(&d);
    return all;
  }

  LabelSet set_of(uint32_t mask) const {
    LabelSet labels;
    for (uint32_t i = 0; i < known_.size(); ++i)
      if (mask >> i & 1) labels.push_back(known_[i]);
    return labels;
  }

  /// Calls `use` for all aspects of some unjudged documents; they have none afterwards.
  template <class Use> void for_each_world(const std::vector<Document*>& documents, Use&& use) {
    std::vector<uint32_t> masks(documents.size(), 0);
    for (Document* d : documents) d->labels.clear();
    while (true) {
      pause_point();
      use();
      size_t i = 0;
      while (i < masks.size() && masks[i] + 1 == sets_.size()) masks[i] = 0, documents[i++]->labels.clear();
      if (i == masks.size()) return;
      documents[i]->labels = sets_[++masks[i]];
    }
  }

  /// All aspects of all unjudged documents; false if there are too many.
  bool try_all() {
    std::vector<Document*> documents = pointers(inside_);
    for (Document& d : below_) documents.push_back(&d);
    steps_ = 0;
    if (!afford(worlds(documents.size()) * greedy_cost())) return false;
    for_each_world(documents, [&] { include(novelty(), greedy()); });
    return true;
  }

  double gain_of_set(const LabelSet& labels) const {
    double gain = 0;
    for (const uint32_t label : labels) gain += worth_[label];
    return gain;
  }

  double novelty() {
    worth_.assign(labels_.size(), 1.0);
    double sum = 0;
    for (const Place& place : list_) {
      const LabelSet& labels = place.inside ? inside_[place.inside - 1].labels : place.labels;
      sum += gain_of_set(labels) * place.weight;
      for (const uint32_t label : labels) worth_[label] *= 1 - alpha_;
    }
    return sum;
  }

  void collect(bool with_below) {
    left_.clear();
    for (const auto* documents : {&judged_, &inside_, &below_})
      if (documents != &below_ || with_below)
        for (const Document& d : *documents)
          if (!d.labels.empty()) left_.push_back(&d);
    std::sort(left_.begin(), left_.end(), [](const Document* a, const Document* b) { return later(*a, *b); });
    worth_.assign(labels_.size(), 1.0);
  }

  std::pair<size_t, double> best_left() const {
    size_t best = 0;
    double best_gain = -1;
    for (size_t i = 0; i < left_.size(); ++i)
      if (const double gain = gain_of_set(left_[i]->labels); gain > best_gain) best = i, best_gain = gain;
    return {best, best_gain};
  }

  /// The novelty of the greedy ideal of all documents that have aspects.
  double greedy() {
    collect(true);
    double sum = 0;
    for (size_t rank = 0; rank < weights_.size() && !left_.empty(); ++rank) {
      const auto [best, gain] = best_left();
      for (const uint32_t label : left_[best]->labels) worth_[label] *= 1 - alpha_;
      sum += gain * weights_[rank];
      left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(best));
    }
    return sum;
  }

  // --- documents below the cutoff ---

  /// Follows all courses of the ideal for all worlds of the list. False if there are too many, or if the ids do not
  /// allow a course that would matter.
  bool follow_all(const std::vector<Document*>& listed, bool smallest) {
    smallest_ = smallest;
    unreached_ = smallest ? -1.0 : std::numeric_limits<double>::infinity();
    within_budget_ = true;
    for_each_world(listed, [&] {
      within_budget_ = within_budget_ && afford(static_cast<double>(left_.size() + list_.size()));
      if (!within_budget_) return;
      sum_ = novelty();
      collect(false);
      picks_.clear();
      taken_.clear();
      covers_.clear();
      if (!matters(still_to_come(0))) return;
      if (smallest) find_covers();
      follow(0, 0.0);
    });
    if (!within_budget_) return false;
    return smallest ? unreached_ <= bounds_.upper * (1 + rounding) : unreached_ >= bounds_.lower * (1 - rounding);
  }

  /// Whether an ideal of this novelty would move the bound that is looked for.
  bool matters(double ideal) const {
    const double value = share(sum_, ideal);
    return smallest_ ? value > bounds_.upper * (1 + rounding) : value < bounds_.lower * (1 - rounding);
  }

  /// Sets of documents, each document in one of them, that have all aspects: their sizes, the smallest first.
  void find_covers() {
    steps_ += greedy_cost();
    std::vector<bool> used(left_.size(), false), met;
    while (covers_.size() < weights_.size()) {
      met.assign(labels_.size(), false);
      size_t missing = known_.size(), size = 0;
      while (missing > 0) {
        size_t best = left_.size(), most = 0;
        for (size_t i = 0; i < left_.size(); ++i) {
          if (used[i]) continue;
          size_t fresh = 0;
          for (const uint32_t label : left_[i]->labels) fresh += !met[label];
          if (fresh > most) best = i, most = fresh;
        }
        if (most == 0) return std::sort(covers_.begin(), covers_.end());
        used[best] = true;
        for (const uint32_t label : left_[best]->labels) met[label] = true;
        missing -= most;
        ++size;
      }
      covers_.push_back(size);
    }
    std::sort(covers_.begin(), covers_.end());
  }

  /// The least or the most that the ideal can still gain from a rank on. Most: all aspects at every rank. Least: a
  /// document's gain falls by at most alpha times what was taken, and at most to its (1 - alpha)th part at each rank;
  /// and of n documents that have all aspects one gains at least the nth part of what all aspects are worth, which
  /// falls by alpha times what was taken. Each of these is lowest if as little as possible was taken before, because
  /// what was taken in all still grows with what was taken before, and early ranks weigh most.
  double still_to_come(size_t rank) {
    double sum = 0, all = 0;
    for (const uint32_t label : known_) all += worth_[label];
    if (!smallest_) {
      for (; rank < weights_.size(); ++rank, all *= 1 - alpha_) sum += all * weights_[rank];
      return sum;
    }
    gains_.clear();
    for (const Document* d : left_) gains_.push_back(gain_of_set(d->labels));
    std::sort(gains_.begin(), gains_.end(), std::greater<>());
    const size_t used = rank - taken_.size();  // as many covers are broken at most
    double taken = 0, factor = 1;
    for (size_t i = 0; i < gains_.size() && rank + i < weights_.size(); ++i, factor *= 1 - alpha_) {
      double gain = std::max(gains_[i] * factor, gains_[i] - alpha_ * taken);
      if (used + i < covers_.size())
        gain = std::max(gain, (all - alpha_ * taken) / static_cast<double>(covers_[used + i]));
      sum += gain * weights_[rank + i];
      taken += gain;
    }
    return sum;
  }

  void follow(size_t rank, double ideal) {
    within_budget_ = within_budget_ && afford(static_cast<double>(left_.size() * 4 + 1));
    if (!within_budget_ || !matters(ideal + still_to_come(rank))) return;
    if (rank == weights_.size()) return reach(ideal);
    const auto [best, gain] = best_left();
    const Document* document = left_.empty() ? nullptr : left_[best];
    if (document) {
      left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(best));
      const double reached = ideal + gain * weights_[rank];
      take(document->labels, gain, [&] { follow(rank + 1, reached); });
      left_.insert(left_.begin() + static_cast<std::ptrdiff_t>(best), document);
    } else {
      reach(ideal);
    }
    if (taken_.size() == below_.size()) return;
    within_budget_ = within_budget_ && afford(static_cast<double>(sets_.size() * (rank + 2)));
    for (size_t mask = 1; mask < sets_.size() && within_budget_; ++mask) {
      const LabelSet& labels = sets_[mask];
      const double own = gain_of_set(labels);
      if (own <= rounding || own < gain - rounding || !waits(labels)) continue;
      const bool tied = document && own <= gain + rounding;
      if (tied && !later(below_.front(), *document)) continue;
      taken_.push_back({labels, tied ? document : nullptr});
      take(labels, own, [&] { follow(rank + 1, ideal + own * weights_[rank]); });
      taken_.pop_back();
    }
  }

  template <class Next> void take(const LabelSet& labels, double gain, Next&& next) {
    std::vector<double> before = worth_;
    picks_.push_back({worth_, gain});
    for (const uint32_t label : labels) worth_[label] *= 1 - alpha_;
    next();
    picks_.pop_back();
    worth_ = std::move(before);
  }

  /// Whether a document with these aspects was not better than what the ideal took before.
  bool waits(const LabelSet& labels) const {
    for (const auto& [worth, gain] : picks_) {
      double own = 0;
      for (const uint32_t label : labels) own += worth[label];
      if (own > gain + rounding) return false;
    }
    return true;
  }

  /// A course of the ideal that matters: looks for ids with which it comes about.
  void reach(double ideal) {
    if (!matters(ideal)) return;
    const auto left = left_;
    const auto worth = worth_;
    bool reached = false;
    for (const bool first : {true, false}) {
      if (reached || !hand_out(first)) continue;
      const double actual = greedy();
      include(sum_, actual);
      reached = std::abs(actual - ideal) <= rounding * ideal;
    }
    all_below({});
    left_ = left;
    worth_ = worth;
    if (!reached)
      unreached_ = smallest_ ? std::max(unreached_, share(sum_, ideal)) : std::min(unreached_, share(sum_, ideal));
  }

  /// Gives the aspects taken to documents below, in the order taken: to the one with the largest id that is free, or
  /// with the smallest id that is large enough.
  bool hand_out(bool first) {
    all_below({});
    std::vector<bool> used(below_.size(), false);
    for (const Taken& taken : taken_) {
      size_t chosen = below_.size();
      for (size_t i = 0; i < below_.size(); ++i) {
        if (used[i] || (taken.above && !later(below_[i], *taken.above))) continue;
        chosen = i;
        if (first) break;
      }
      if (chosen == below_.size()) return false;
      used[chosen] = true;
      below_[chosen].labels = taken.labels;
    }
    return true;
  }

  Labels labels_;
  double alpha_;
  size_t depth_;
  LabelSet known_;
  std::vector<LabelSet> sets_;  // all sets of them
  std::vector<Place> list_;
  std::vector<Document> judged_, inside_, below_;
  std::vector<double> weights_;
  Interval bounds_{undefined, undefined};
  double steps_ = 0;
  // the state of a course of the ideal
  bool smallest_ = true, within_budget_ = true;
  double sum_ = 0, unreached_ = 0;
  std::vector<const Document*> left_;
  std::vector<double> worth_, gains_;
  std::vector<size_t> covers_;
  std::vector<std::pair<std::vector<double>, double>> picks_;
  std::vector<Taken> taken_;
};

template <Weight weight> Interval ideal_bounds(const Ranked& r, const Spec& s) {
  return IdealSearch(r, s, weight).bounds(s.kernel->point(r, s));
}

}  // namespace

UnjudgedSearch novelty_unjudged_bounds(std::string_view kernel) {
  if (kernel == "dr") return dr_bounds;
  if (kernel == "diversity") return diversity_bounds;
  if (kernel == "alpha_ndcg") return ideal_bounds<log_weight>;
  if (kernel == "nerr_ia") return ideal_bounds<inverse_rank>;
  if (kernel == "nnrbp") return ideal_bounds<geometric>;
  return nullptr;
}

}  // namespace gg
