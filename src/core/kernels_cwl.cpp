// The C/W/L framework: a reader goes on from rank i to the next with probability C(i). The expected gain per document,
// the total gain, and how much is read follow from it. Costs are one per document.
#include <numeric>

#include "kernels_families.hpp"

namespace gg {

namespace {

constexpr uint32_t longest_list = 1000;  // as cwl_eval: a shorter list goes on with documents of no gain
constexpr double most_orders = 5040;

/// What a reader has seen up to a rank.
struct Reader {
  uint32_t rank = 0;
  double gain = 0;        // of the document at this rank
  double total = 0;       // of all documents so far
  double wanted = 0;      // BPM: the gain that satisfies the reader, which may move
  double affordable = 0;  // BPM: the ranks that the reader has patience for, which may move
};

double squared_decay(double at) { return (at - 1) / at * ((at - 1) / at); }

double go_on_inst(const Reader& r, const Spec& s) { return squared_decay(r.rank + 2 * s.T - r.total); }
double go_on_insq(const Reader& r, const Spec& s) { return squared_decay(r.rank + 2 * s.T); }
double go_on_bpm(const Reader& r, const Spec&) { return r.total < r.wanted && r.rank < r.affordable ? 1 : 0; }
double go_on_sdcg(const Reader& r, const Spec& s) {
  return r.rank < s.cutoff ? log2_rank(r.rank) / log2_rank(r.rank + 1) : 0;
}
double go_on_nerr8(const Reader& r, const Spec& s) { return r.rank < s.cutoff ? 1 - r.gain : 0; }
double go_on_nerr9(const Reader& r, const Spec& s) {
  return r.rank < s.cutoff ? r.rank / (r.rank + 1.0) * (1 - r.gain) : 0;
}
double go_on_nerr10(const Reader& r, const Spec& s) { return s.p * (1 - r.gain); }
double go_on_nerr11(const Reader& r, const Spec& s) { return go_on_insq(r, s) * (1 - r.gain); }

using GoOn = double (*)(const Reader&, const Spec&);

/// Gains as shares of the highest grade, by rank.
std::vector<double> shares(const Ranked& r, const Spec& s) {
  const double top = s.max_grade == s.max_grade ? s.max_grade : std::max(r.max_gain, 1.0);
  std::vector<double> gains(longest_list, 0.0);
  for (const Hit& hit : r.hits)
    if (hit.rank <= longest_list) gains[hit.rank - 1] = std::clamp(gain_of(r, hit) / top, 0.0, 1.0);
  return gains;
}

template <GoOn go_on>
double read(const std::vector<double>& gains, const Spec& s) {
  Reader reader{.wanted = s.T, .affordable = static_cast<double>(s.cutoff)};
  double reached = 1;                     // the probability of reading this rank
  double ranks = 0, gain = 0;             // sums over ranks, weighted by it
  double total_gain = 0, total_cost = 0;  // sums over ranks at which reading ends
  for (const double g : gains) {
    ++reader.rank;
    reader.gain = g;
    reader.total += g;
    ranks += reached;
    gain += reached * g;
    const double next = go_on(reader, s);
    total_gain += reached * (1 - next) * reader.total;
    total_cost += reached * (1 - next) * reader.rank;
    reader.wanted += s.benefit_step * (g - s.median_gain);
    reader.affordable += s.cost_step * (g - s.median_gain);
    reached *= next;
    if (reached == 0) break;
  }
  switch (s.expected) {
    case Expected::total_utility: return total_gain;
    case Expected::cost: return 1;
    case Expected::total_cost: return total_cost;
    case Expected::items: return ranks;
    default: return gain / ranks;
  }
}

template <GoOn go_on>
double point(const Ranked& r, const Spec& s) {
  return read<go_on>(shares(r, s), s);
}

/// Calls `use` with the gains of every distinct order of tied documents, each equally likely; false if there are too
/// many of them.
template <class Use>
bool for_each_order(const Ranked& r, const Spec& s, Use&& use) {
  std::vector<double> gains = shares(r, s);
  struct Span {
    uint32_t begin, end;
  };
  std::vector<Span> blocks;
  double orders = 1;
  for (const Block& block : r.blocks) {
    if (block.first > longest_list) break;
    if (block.first + block.size - 1 > longest_list) return false;  // ties across the end of what is read
    const Span span{block.first - 1, block.first - 1 + block.size};
    std::sort(gains.begin() + span.begin, gains.begin() + span.end);
    uint32_t run = 0;
    for (uint32_t i = span.begin; i < span.end; ++i) {
      run = i > span.begin && gains[i] == gains[i - 1] ? run + 1 : 1;
      orders *= (i - span.begin + 1.0) / run;
    }
    if (orders > most_orders) return false;
    if (block.size > 1) blocks.push_back(span);
  }
  while (true) {
    use(gains);
    size_t b = 0;
    while (b < blocks.size() && !std::next_permutation(gains.begin() + blocks[b].begin, gains.begin() + blocks[b].end))
      ++b;
    if (b == blocks.size()) return true;
  }
}

template <GoOn go_on>
double expected(const Ranked& r, const Spec& s) {
  double sum = 0, orders = 0;
  const bool all = for_each_order(r, s, [&](const std::vector<double>& gains) {
    sum += read<go_on>(gains, s);
    ++orders;
  });
  return all ? sum / orders : undefined;
}

template <GoOn go_on>
Interval search(const Ranked& r, const Spec& s) {
  Interval bounds{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  const bool all = for_each_order(r, s, [&](const std::vector<double>& gains) {
    const double value = read<go_on>(gains, s);
    bounds.lower = std::min(bounds.lower, value);
    bounds.upper = std::max(bounds.upper, value);
  });
  return all ? bounds : Interval{undefined, undefined};
}

template <GoOn go_on>
constexpr Kernel cwl_kernel(KernelName name) {
  return {name, point<go_on>, expected<go_on>, TieBounds::search, UnjudgedBounds::refuse, search<go_on>};
}

}  // namespace

std::span<const Kernel> cwl_kernels() {
  static const Kernel table[] = {
      cwl_kernel<go_on_inst>("inst"),     cwl_kernel<go_on_insq>("insq"),     cwl_kernel<go_on_bpm>("bpm"),
      cwl_kernel<go_on_sdcg>("sdcg"),     cwl_kernel<go_on_nerr8>("nerr8"),   cwl_kernel<go_on_nerr9>("nerr9"),
      cwl_kernel<go_on_nerr10>("nerr10"), cwl_kernel<go_on_nerr11>("nerr11"),
  };
  return table;
}

}  // namespace gg
