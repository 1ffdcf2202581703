// Coverage and counts: Judged, Unjudged, NumRet, NumRel, NumRelRet, NumQ.
#include <algorithm>

#include "kernels_families.hpp"

namespace gg {
namespace {

double any(const Ranked&, const Hit&, const Spec&) { return 1; }

using Count = double (*)(const Ranked&, const Spec&);
double judged_in_top(const Ranked& r, const Spec& s) { return linear(r, s, any, unweighted); }
double expected_judged_in_top(const Ranked& r, const Spec& s) { return expected_linear(r, s, any, unweighted); }

/// The share of documents retrieved above the cutoff; undefined for an empty list.
template <Count count> double judged(const Ranked& r, const Spec& s) {
  const uint32_t k = std::min(depth(r, s), r.retrieved);
  return k > 0 ? count(r, s) / k : s.empty_zero ? 0 : undefined;
}

/// The share of ranks above the cutoff, like trec_eval's unj: empty ranks of a short list are not unjudged.
template <Count count> double unjudged(const Ranked& r, const Spec& s) {
  const uint32_t k = depth(r, s);
  return k > 0 ? (std::min(k, r.retrieved) - count(r, s)) / k : undefined;
}

double num_ret(const Ranked& r, const Spec& s) { return s.cutoff ? std::min(s.cutoff, r.retrieved) : r.retrieved; }
double num_rel(const Ranked& r, const Spec& s) { return relevant_judged(r, s); }
double num_rel_ret(const Ranked& r, const Spec& s) { return linear(r, s, is_relevant, unweighted); }
double expected_num_rel_ret(const Ranked& r, const Spec& s) { return expected_linear(r, s, is_relevant, unweighted); }
double num_q(const Ranked&, const Spec&) { return 1; }

}  // namespace

std::span<const Kernel> coverage_kernels() {
  using enum TieBounds;
  static const Kernel table[] = {
      {"judged", judged<judged_in_top>, judged<expected_judged_in_top>, sorted, UnjudgedBounds::fixed},
      {"unjudged", unjudged<judged_in_top>, unjudged<expected_judged_in_top>, sorted, UnjudgedBounds::fixed},
      {"num_ret", num_ret, num_ret, fixed, UnjudgedBounds::fixed},
      {"num_rel", num_rel, num_rel, fixed, UnjudgedBounds::all},
      {"num_rel_ret", num_rel_ret, expected_num_rel_ret, sorted, UnjudgedBounds::all},
      {"num_q", num_q, num_q, fixed, UnjudgedBounds::fixed},
  };
  return table;
}

}  // namespace gg
