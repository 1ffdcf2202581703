// Every kernel, and pickled judgments.
#include <algorithm>
#include <cmath>
#include <vector>

#include "error.hpp"
#include "formats.hpp"
#include "kernels.hpp"
#include "targets.hpp"

namespace gg::fuzz {

namespace {

Plan all_measures(Ties ties) {
  Plan plan;
  plan.policy.ties = ties;
  plan.policy.duplicates = Duplicates::first;
  for (const Kernel& kernel : kernels()) {
    Spec spec;
    spec.kernel = &kernel;
    spec.cutoff = 5;
    plan.measures.push_back(spec);
    plan.customs.emplace_back();
    plan.group_next(plan.policy);
  }
  return plan;
}

/// Judgments with targets, aspects and negative gains.
const std::shared_ptr<const Qrels>& judgments_by_aspect() {
  static const std::shared_ptr<const Qrels> judged = [] {
    const LineFormat format;
    return std::shared_ptr<const Qrels>(
        read_qrels(in_pieces("q 1 a 2\nq 2 a 1\nq 1 b 0\nq 2 c 3\nq 1 d -1\nr 1 a 1\n", 1000, format), format, 1));
  }();
  return judged;
}

/// Values of a run under a plan; none if it is refused.
std::vector<double> values_of(Bytes text, const LineFormat& format, const Plan& plan) {
  try {
    return evaluate_text(judgments_by_aspect(), in_pieces(text, text.size() + 1, format), format, plan, Resources{1})
        .values;
  } catch (const Error&) {
    return {};
  }
}

/// The value of one order of tied documents, and the mean over all of them, lie within the bounds.
void compare_bounds(const std::vector<double>& bounded, const std::vector<double>& means, Bytes input) {
  const size_t n = kernels().size(), queries = bounded.size() / (3 * n);
  if (means.size() != queries * n) differ("queries with and without bounds", input);
  for (size_t q = 0; q < queries; ++q)
    for (size_t m = 0; m < n; ++m) {
      const double* row = bounded.data() + q * 3 * n;
      const double lower = row[n + 2 * m], upper = row[n + 2 * m + 1];
      const double slack = 1e-9 * std::max({1.0, std::abs(lower), std::abs(upper)});
      for (const double value : {row[m], means[q * n + m]})
        if (value < lower - slack || value > upper + slack) differ(kernels()[m].name.text.data(), input);
    }
}

}  // namespace

void measures(Bytes bytes) {
  static const Plan plans[] = {all_measures(Ties::docid), all_measures(Ties::average), all_measures(Ties::bounds)};
  const auto [choice, text] = chosen_by(bytes);
  const LineFormat& format = formats()[choice % formats().size()];
  const size_t plan = choice / formats().size() % std::size(plans);
  const std::vector<double> values = values_of(text, format, plans[plan]);
  if (plan == 2) compare_bounds(values, values_of(text, format, plans[1]), bytes);
}

void states(Bytes text) {
  try {
    const auto qrels = Qrels::from_state(text);
    if (Qrels::from_state(qrels->state())->state() != qrels->state()) differ("states", text);
  } catch (const Error&) {
  }
}

}  // namespace gg::fuzz
