#include "top_lists.hpp"

#include <algorithm>

#include "kernels.hpp"

namespace gg {

TopList TopLists::begin(const Ranked& ranked, const std::vector<Row>& rows, std::span<const uint32_t> order) const {
  TopList list;
  list.retrieved = ranked.retrieved;
  for (const uint32_t i : order.first(std::min<size_t>(order.size(), depth_))) {
    list.text += rows[i].doc;
    list.ends.push_back(static_cast<uint32_t>(list.text.size()));
    list.scores.push_back(rows[i].score);
  }
  for (const Hit& hit : ranked.hits) {
    if (hit.rank > depth_) {
      list.later.push_back(hit);
      continue;
    }
    list.ranks.push_back(hit.rank);
    list.judgments.push_back(hit.judgment);
    list.gains.push_back(gain_of(ranked, hit));
  }
  list.contributions.assign(measures_ * list.ranks.size(), undefined);
  list.bases.assign(measures_, undefined);
  return list;
}

namespace {

/// Whether the value comes from one order of the documents; only then is it a sum over their ranks.
bool has_terms(const Policy& policy, const Spec& spec) {
  return spec.kernel && policy.ties != Ties::average && !policy.bounds();
}

double or_zero(double value) { return std::isnan(value) ? 0 : value; }

}  // namespace

void TopLists::explain(TopList& list, const Ranked& ranked, const Policy& policy, const Spec& spec,
                       size_t measure) const {
  if (!has_terms(policy, spec)) return;
  const auto value_of = [&ranked](size_t hits, const Spec& by) {
    Ranked part = ranked;
    part.hits = ranked.hits.first(hits);
    return by.kernel->point(part, by);
  };
  list.bases[measure] = value_of(0, spec);
  // With the list's own best order as ideal, contributions are those of DCG, scaled alike.
  Spec of_parts = spec;
  double scale = 1;
  if (spec.ideal_retrieved && spec.kernel->name == "ndcg") {
    of_parts.kernel = find_kernel("dcg");
    const double total = value_of(ranked.hits.size(), of_parts);
    scale = total != 0 ? value_of(ranked.hits.size(), spec) / total : 0;
  }
  double* contributions = list.contributions.data() + measure * list.ranks.size();
  std::fill(contributions, contributions + list.ranks.size(), 0.0);
  size_t remaining = list.ranks.size();
  double before = or_zero(value_of(0, of_parts));
  for (size_t h = 0; h < ranked.hits.size() && remaining; ++h) {
    const double so_far = or_zero(value_of(h + 1, of_parts));
    const auto own = std::find(list.judgments.begin(), list.judgments.end(), ranked.hits[h].judgment);
    if (own != list.judgments.end()) {
      contributions[own - list.judgments.begin()] = (so_far - before) * scale;
      --remaining;
    }
    before = so_far;
  }
}

void TopLists::keep(size_t query, TopList list) {
  const std::lock_guard lock(mutex_);
  lists_[query] = std::move(list);
}

}  // namespace gg
