// What is judged, and how much there is: Judged, Unjudged, the counts.
#include <algorithm>

#include "kernels_families.hpp"

namespace gg {
namespace {

double any(const Ranked&, const Hit&, const Spec&) { return 1; }
double is_relevant(const Ranked& r, const Hit& h, const Spec& s) { return relevant(r, h, s); }
double unweighted(uint32_t, const Spec&) { return 1; }

using Count = double (*)(const Ranked&, const Spec&);
double judged_found(const Ranked& r, const Spec& s) { return linear(r, s, any, unweighted); }
double expected_judged_found(const Ranked& r, const Spec& s) { return expected_linear(r, s, any, unweighted); }

/// Of what was retrieved above the cut-off; an empty list has no share.
template <Count count> double judged(const Ranked& r, const Spec& s) {
  const uint32_t k = std::min(depth(r, s), r.retrieved);
  return k > 0 ? count(r, s) / k : s.empty_zero ? 0 : undefined;
}

/// Of the places above the cut-off, as trec_eval's unj: places that a short list leaves empty are not unjudged.
template <Count count> double unjudged(const Ranked& r, const Spec& s) {
  const uint32_t k = depth(r, s);
  return k > 0 ? (std::min(k, r.retrieved) - count(r, s)) / k : undefined;
}

double num_ret(const Ranked& r, const Spec& s) { return s.cutoff ? std::min(s.cutoff, r.retrieved) : r.retrieved; }
double num_rel(const Ranked& r, const Spec& s) { return r.query->count_at_least(s.rel); }
double num_rel_ret(const Ranked& r, const Spec& s) { return linear(r, s, is_relevant, unweighted); }
double expected_num_rel_ret(const Ranked& r, const Spec& s) { return expected_linear(r, s, is_relevant, unweighted); }
double num_q(const Ranked&, const Spec&) { return 1; }

}  // namespace

std::span<const Kernel> coverage_kernels() {
  using enum TieBounds;
  static const Kernel table[] = {
      {"judged", judged<judged_found>, judged<expected_judged_found>, sorted, UnjudgedBounds::fixed},
      {"unjudged", unjudged<judged_found>, unjudged<expected_judged_found>, sorted, UnjudgedBounds::fixed},
      {"num_ret", num_ret, num_ret, fixed, UnjudgedBounds::fixed},
      {"num_rel", num_rel, num_rel, fixed, UnjudgedBounds::all},
      {"num_rel_ret", num_rel_ret, expected_num_rel_ret, sorted, UnjudgedBounds::all},
      {"num_q", num_q, num_q, fixed, UnjudgedBounds::fixed},
  };
  return table;
}

}  // namespace gg
