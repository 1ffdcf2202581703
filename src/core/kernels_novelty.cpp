// Distinct targets and aspects: DR, Diversity, StRecall, alpha-nDCG, ERR-IA, NRBP, AP-IA, P-IA.
//
// A label is a target (for DR and Diversity) or an aspect. Only labels with a relevant document count.
#include <algorithm>
#include <map>
#include <vector>

#include "kernels_labels.hpp"

namespace gg {
namespace {

// --- number of labels covered ---

double met(const Ranked& r, const Spec& s, const Labels& labels) {
  const uint32_t k = depth(r, s);
  std::vector<bool> seen(labels.size(), false);
  uint32_t n = 0;
  for (const Hit& hit : r.hits) {
    if (hit.rank > k) break;
    for (const uint32_t label : labels.of(hit))
      if (!seen[label]) seen[label] = true, ++n;
  }
  return n;
}

/// The number of documents in a block that carry each label.
std::vector<uint32_t> carriers(const Ranked& r, const Block& block, const Labels& labels) {
  std::vector<uint32_t> n(labels.size(), 0);
  for (uint32_t h = block.begin; h < block.end; ++h)
    for (const uint32_t label : labels.of(r.hits[h])) ++n[label];
  return n;
}

double expected_met(const Ranked& r, const Spec& s, const Labels& labels) {
  const uint32_t k = depth(r, s);
  std::vector<bool> seen(labels.size(), false);
  double n = 0;
  for (const Block& block : r.blocks) {
    if (block.first > k) break;
    const uint32_t inside = std::min(block.size, k - block.first + 1);
    const auto tied = carriers(r, block, labels);
    for (size_t label = 0; label < tied.size(); ++label) {
      if (seen[label] || tied[label] == 0) continue;
      n += 1 - chance_of_none(block.size, tied[label], inside);
      seen[label] = true;
    }
  }
  return n;
}

/// Documents of a block with the same labels are of one kind; those without labels are the last kind.
struct Kinds {
  std::vector<std::vector<uint32_t>> labels;
  std::vector<uint32_t> sizes;
};

Kinds kinds_of(const Ranked& r, const Block& block, const Labels& labels) {
  std::map<std::vector<uint32_t>, uint32_t> sizes;
  uint32_t none = block.size - (block.end - block.begin);
  for (uint32_t h = block.begin; h < block.end; ++h) {
    auto own = labels.of(r.hits[h]);
    std::sort(own.begin(), own.end());
    if (own.empty()) ++none;
    else ++sizes[own];
  }
  Kinds kinds;
  for (auto& [own, n] : sizes) {
    kinds.labels.push_back(own);
    kinds.sizes.push_back(n);
  }
  kinds.labels.emplace_back();
  kinds.sizes.push_back(none);
  return kinds;
}

/// The extremes of a sum of `add(label, occurrences of the label above, rank)` over all orders in the blocks.
template <class Add>
Interval search_labels(const Ranked& r, const Spec& s, const Labels& labels, Add&& add) {
  const uint32_t k = depth(r, s);
  std::vector<uint32_t> above(labels.size(), 0);
  Interval sum{0, 0};
  for (const Block& block : r.blocks) {
    if (block.first > k) break;
    const Kinds kinds = kinds_of(r, block, labels);
    const Interval part =
        search_orders(kinds.sizes, block.first, [&](size_t kind, const std::vector<uint32_t>& used, uint32_t rank) {
          double added = 0;
          if (rank > k) return added;
          for (const uint32_t label : kinds.labels[kind]) {
            uint32_t times = above[label];
            for (size_t other = 0; other + 1 < kinds.sizes.size(); ++other)
              if (used[other] && std::binary_search(kinds.labels[other].begin(), kinds.labels[other].end(), label))
                times += used[other];
            added += add(label, times, rank);
          }
          return added;
        });
    sum.lower += part.lower;
    sum.upper += part.upper;
    const auto tied = carriers(r, block, labels);
    for (size_t label = 0; label < tied.size(); ++label) above[label] += tied[label];
  }
  return sum;
}

/// Only the block that the cutoff divides leaves a choice. If no document has two labels, new labels come first or
/// last; otherwise all orders are tried.
Interval search_met(const Ranked& r, const Spec& s, const Labels& labels) {
  const uint32_t k = depth(r, s);
  std::vector<bool> seen(labels.size(), false);
  double sure = 0;
  for (const Block& block : r.blocks) {
    if (block.first > k) break;
    const auto tied = carriers(r, block, labels);
    std::vector<uint32_t> fresh;  // documents of each label not covered above
    uint32_t useful = 0;
    for (size_t label = 0; label < tied.size(); ++label)
      if (tied[label] && !seen[label]) fresh.push_back(tied[label]), useful += tied[label];
    if (block.first + block.size > k + 1) {
      for (uint32_t h = block.begin; h < block.end; ++h)
        if (labels.of(r.hits[h]).size() > 1)
          return search_labels(r, s, labels, [](uint32_t, uint32_t times, uint32_t) { return times == 0 ? 1.0 : 0.0; });
      const uint32_t inside = k - block.first + 1;
      const uint32_t useless = block.size - useful;
      uint32_t forced = inside > useless ? inside - useless : 0, least = 0;
      std::sort(fresh.begin(), fresh.end(), std::greater<>());
      for (size_t i = 0; forced > 0; ++i, ++least) forced -= std::min(forced, fresh[i]);
      return {sure + least, sure + std::min<double>(inside, static_cast<double>(fresh.size()))};
    }
    sure += static_cast<double>(fresh.size());
    for (size_t label = 0; label < tied.size(); ++label)
      if (tied[label]) seen[label] = true;
  }
  return {sure, sure};
}

using GetLabels = Labels (*)(const Ranked&, const Spec&);

template <GetLabels get> double label_recall(const Ranked& r, const Spec& s) {
  const Labels labels = get(r, s);
  return share(met(r, s, labels), labels.count());
}
template <GetLabels get> double expected_label_recall(const Ranked& r, const Spec& s) {
  const Labels labels = get(r, s);
  return share(expected_met(r, s, labels), labels.count());
}
template <GetLabels get> Interval search_label_recall(const Ranked& r, const Spec& s) {
  const Labels labels = get(r, s);
  return share(search_met(r, s, labels), labels.count());
}

double diversity(const Ranked& r, const Spec& s) { return met(r, s, targets(r, s)); }
double expected_diversity(const Ranked& r, const Spec& s) { return expected_met(r, s, targets(r, s)); }
Interval search_diversity(const Ranked& r, const Spec& s) { return search_met(r, s, targets(r, s)); }

// --- novelty: an aspect covered n times before is worth (1 - alpha)^n ---

double novelty(const Ranked& r, const Spec& s, const Labels& labels, Weight weight) {
  const uint32_t k = depth(r, s);
  std::vector<double> worth(labels.size(), 1.0);
  double sum = 0;
  for (const Hit& hit : r.hits) {
    if (hit.rank > k) break;
    double gain = 0;
    for (const uint32_t label : labels.of(hit)) {
      gain += worth[label];
      worth[label] *= 1 - s.alpha;
    }
    sum += gain * weight(hit.rank, s);
  }
  return sum;
}

double expected_novelty(const Ranked& r, const Spec& s, const Labels& labels, Weight weight) {
  const uint32_t k = depth(r, s);
  std::vector<double> worth(labels.size(), 1.0);
  double sum = 0;
  std::vector<double> mean;
  for (const Block& block : r.blocks) {
    if (block.first > k) break;
    const auto tied = carriers(r, block, labels);
    for (size_t label = 0; label < tied.size(); ++label) {
      if (tied[label] == 0) continue;
      // With one carrier at place j, those above it are j draws from the rest of the block.
      mean_product_of_draws(std::vector<double>(tied[label] - 1, 1 - s.alpha), block.size - 1, mean);
      for (uint32_t j = 0; j < block.size && block.first + j <= k; ++j)
        sum += worth[label] * tied[label] / block.size * mean[j] * weight(block.first + j, s);
      worth[label] *= std::pow(1 - s.alpha, tied[label]);
    }
  }
  return sum;
}

Interval search_novelty(const Ranked& r, const Spec& s, const Labels& labels, Weight weight) {
  return search_labels(r, s, labels, [&](uint32_t, uint32_t times, uint32_t rank) {
    return std::pow(1 - s.alpha, times) * weight(rank, s);
  });
}

/// The greedy ideal: at each rank the document that adds most, with ties broken by larger id.
double greedy_ideal(const Ranked& r, const Spec& s, const Labels& labels, Weight weight) {
  const auto& of = labels.all();
  std::vector<uint32_t> left;
  for (uint32_t d = 0; d < of.size(); ++d)
    if (!of[d].empty()) left.push_back(d);
  std::sort(left.begin(), left.end(), [&](uint32_t a, uint32_t b) { return r.query->docs[a] > r.query->docs[b]; });
  std::vector<double> worth(labels.size(), 1.0);
  double sum = 0;
  for (uint32_t rank = 1; rank <= ideal_depth(r, s) && !left.empty(); ++rank) {
    size_t best = 0;
    double best_gain = -1;
    for (size_t i = 0; i < left.size(); ++i) {
      double gain = 0;
      for (const uint32_t label : of[left[i]]) gain += worth[label];
      if (gain > best_gain) best = i, best_gain = gain;
    }
    for (const uint32_t label : of[left[best]]) worth[label] *= 1 - s.alpha;
    sum += best_gain * weight(rank, s);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return sum;
}

/// The value of documents that cover every aspect at every rank.
double perfect(const Ranked& r, const Spec& s, const Labels& labels, Weight weight) {
  double sum = 0, worth = 1;
  for (uint32_t rank = 1; rank <= ideal_depth(r, s); ++rank, worth *= 1 - s.alpha) sum += worth * weight(rank, s);
  return sum * labels.count();
}

double nrbp_norm(const Ranked&, const Spec& s, const Labels& labels, Weight) {
  return labels.count() / (1 - (1 - s.alpha) * s.beta);
}

using Norm = double (*)(const Ranked&, const Spec&, const Labels&, Weight);

template <Weight weight, Norm norm> double novel(const Ranked& r, const Spec& s) {
  const Labels labels = aspects(r, s);
  return share(novelty(r, s, labels, weight), norm(r, s, labels, weight));
}
template <Weight weight, Norm norm> double expected_novel(const Ranked& r, const Spec& s) {
  const Labels labels = aspects(r, s);
  return share(expected_novelty(r, s, labels, weight), norm(r, s, labels, weight));
}
template <Weight weight, Norm norm> Interval search_novel(const Ranked& r, const Spec& s) {
  const Labels labels = aspects(r, s);
  return share(search_novelty(r, s, labels, weight), norm(r, s, labels, weight));
}

// --- intent-aware means: the measure per aspect, then the mean ---

double ap_ia(const Ranked& r, const Spec& s) {
  const Labels labels = aspects(r, s);
  const uint32_t k = depth(r, s);
  std::vector<uint32_t> seen(labels.size(), 0);
  double sum = 0;
  for (const Hit& hit : r.hits) {
    if (hit.rank > k) break;
    for (const uint32_t label : labels.of(hit))
      sum += static_cast<double>(++seen[label]) / hit.rank / labels.documents(label);
  }
  return share(sum, labels.count());
}

double expected_ap_ia(const Ranked& r, const Spec& s) {
  const Labels labels = aspects(r, s);
  const uint32_t k = depth(r, s);
  std::vector<uint32_t> seen(labels.size(), 0);
  double sum = 0;
  for (const Block& block : r.blocks) {
    if (block.first > k) break;
    const auto tied = carriers(r, block, labels);
    for (size_t label = 0; label < tied.size(); ++label) {
      const double m = tied[label], others = block.size > 1 ? (m - 1) / (block.size - 1.0) : 0;
      for (uint32_t j = 0; m > 0 && j < block.size && block.first + j <= k; ++j)
        sum += m / block.size * (seen[label] + 1 + j * others) / (block.first + j) / labels.documents(label);
      seen[label] += tied[label];
    }
  }
  return share(sum, labels.count());
}

Interval search_ap_ia(const Ranked& r, const Spec& s) {
  const Labels labels = aspects(r, s);
  return share(search_labels(r, s, labels,
                             [&](uint32_t label, uint32_t times, uint32_t rank) {
                               return (times + 1.0) / rank / labels.documents(label);
                             }),
               labels.count());
}

double p_ia(const Ranked& r, const Spec& s) {
  const Labels labels = aspects(r, s);
  const auto worth = [&](const Ranked&, const Hit& h, const Spec&) { return static_cast<double>(labels.of(h).size()); };
  return share(linear(r, s, worth, unweighted), static_cast<double>(labels.count()) * depth(r, s));
}
double expected_p_ia(const Ranked& r, const Spec& s) {
  const Labels labels = aspects(r, s);
  const auto worth = [&](const Ranked&, const Hit& h, const Spec&) { return static_cast<double>(labels.of(h).size()); };
  return share(expected_linear(r, s, worth, unweighted), static_cast<double>(labels.count()) * depth(r, s));
}
Interval search_p_ia(const Ranked& r, const Spec& s) {
  const Labels labels = aspects(r, s);
  return share(search_labels(r, s, labels, [](uint32_t, uint32_t, uint32_t) { return 1.0; }),
               static_cast<double>(labels.count()) * depth(r, s));
}

template <Weight weight, Norm norm>
constexpr Kernel novelty_kernel(KernelName name) {
  return {name,
          novel<weight, norm>,
          expected_novel<weight, norm>,
          TieBounds::search,
          UnjudgedBounds::refuse,
          search_novel<weight, norm>};
}

}  // namespace

std::span<const Kernel> novelty_kernels() {
  using enum TieBounds;
  static const Kernel table[] = {
      {"dr", label_recall<targets>, expected_label_recall<targets>, search, UnjudgedBounds::refuse,
       search_label_recall<targets>},
      {"diversity", diversity, expected_diversity, search, UnjudgedBounds::refuse, search_diversity},
      {"st_recall", label_recall<aspects>, expected_label_recall<aspects>, search, UnjudgedBounds::refuse,
       search_label_recall<aspects>},
      novelty_kernel<log_weight, perfect>("alpha_dcg"),
      novelty_kernel<log_weight, greedy_ideal>("alpha_ndcg"),
      novelty_kernel<inverse_rank, perfect>("err_ia"),
      novelty_kernel<inverse_rank, greedy_ideal>("nerr_ia"),
      novelty_kernel<geometric, nrbp_norm>("nrbp"),
      novelty_kernel<geometric, greedy_ideal>("nnrbp"),
      {"ap_ia", ap_ia, expected_ap_ia, search, UnjudgedBounds::refuse, search_ap_ia},
      {"p_ia", p_ia, expected_p_ia, search, UnjudgedBounds::refuse, search_p_ia},
  };
  return table;
}

}  // namespace gg
