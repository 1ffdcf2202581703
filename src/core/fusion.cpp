#include "fusion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "error.hpp"
#include "evaluate.hpp"

namespace gg {
namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();
constexpr double smallest = 1e-9;  // the smallest divisor of a scale

bool before(const Placed& a, const Placed& b) { return a.score != b.score ? a.score > b.score : a.doc > b.doc; }

void order(Ranking& ranking) { std::sort(ranking.begin(), ranking.end(), before); }

// --- step 1: scores on one scale ---

void scale(Ranking& ranking, double from, double by) {
  for (Placed& p : ranking) p.score = (p.score - from) / std::max(by, smallest);
}

void normalise(Ranking& ranking, Norm norm, const IdTable& candidates) {
  if (ranking.empty() && norm != Norm::borda) return;
  const auto n = static_cast<double>(ranking.size());
  const double most = ranking.empty() ? 0 : ranking.front().score, least = ranking.empty() ? 0 : ranking.back().score;
  double sum = 0;
  for (const Placed& p : ranking) sum += p.score;
  switch (norm) {
    case Norm::none: return;
    case Norm::min_max: return scale(ranking, least, most - least);
    case Norm::min_max_inverted:
      for (Placed& p : ranking) p.score = (most - p.score) / std::max(most - least, smallest);
      return order(ranking);
    case Norm::max: return scale(ranking, 0, most);
    case Norm::sum: return scale(ranking, least, sum - least * n);
    case Norm::zmuv: {
      double squares = 0;
      for (const Placed& p : ranking) squares += (p.score - sum / n) * (p.score - sum / n);
      return scale(ranking, sum / n, std::sqrt(squares / n));
    }
    case Norm::rank:
      for (size_t i = 0; i < ranking.size(); ++i) ranking[i].score = 1 - static_cast<double>(i) / n;
      return;
    case Norm::borda: {
      const auto all = static_cast<double>(candidates.size());
      std::vector<bool> ranked(candidates.size());
      for (size_t i = 0; i < ranking.size(); ++i) {
        ranked[candidates.find(ranking[i].doc)] = true;
        ranking[i].score = 1 - static_cast<double>(i) / all;
      }
      for (size_t c = 0; c < candidates.size(); ++c)
        if (!ranked[c]) ranking.push_back({candidates[c], 0.5 - (n - 1) / (2 * all)});
      return order(ranking);
    }
  }
}

// --- step 2: points by rank ---

double window_mean(const std::vector<double>& table, size_t i, size_t window, size_t length) {
  const size_t first = i < window ? 0 : i - window, last = std::min(i + window, length - 1);
  double sum = 0;
  for (size_t k = first; k <= last && k < table.size(); ++k) sum += table[k];
  return sum / static_cast<double>(last - first + 1);
}

/// The segment of a rank: sizes 5, 10, 20, 40, ...
size_t doubling_segment(size_t i) {
  size_t segment = 0, end = 5;
  while (i >= end) end = 10 * (size_t{1} << ++segment) - 5;
  return segment;
}

double points(const Fusion& how, size_t run, const Ranking& ranking, size_t i, size_t candidates) {
  const auto rank = static_cast<double>(i + 1);
  const auto at = [&](size_t k) { return k < how.tables[run].size() ? how.tables[run][k] : how.absent; };
  switch (how.points) {
    case Points::score: return ranking[i].score;
    case Points::inverse_square: return 1 / (rank * rank);
    case Points::reciprocal: return 1 / (how.parameter + rank);
    case Points::geometric: return (1 - how.parameter) * std::pow(how.parameter, rank - 1);
    case Points::table: return at(i);
    case Points::segments: {
      const size_t segments = how.tables[run].size(), size = (ranking.size() + segments - 1) / segments;
      return at(i / size) / static_cast<double>(i / size + 1);
    }
    case Points::segments_times_score: return at(doubling_segment(i)) * (ranking[i].score + 1);
    case Points::window: return window_mean(how.tables[run], i, static_cast<size_t>(how.parameter), ranking.size());
    case Points::inverse: return how.tables[run][0] / rank;
    case Points::borda: return static_cast<double>(candidates) - static_cast<double>(i);
  }
  return 0;
}

// --- step 3: the points of a document combined into one number ---

double combined(const Fusion& how, const std::vector<double>& run_points, std::vector<double>& present) {
  double sum = 0, weights = 0;
  present.clear();
  const bool weighted = how.combine == Combine::sum || how.combine == Combine::times_root_count;
  for (size_t run = 0; run < run_points.size(); ++run) {
    if (std::isnan(run_points[run])) continue;
    sum += weighted ? how.weights[run] * run_points[run] : run_points[run];
    weights += how.weights[run];
    present.push_back(run_points[run]);
  }
  const auto count = static_cast<double>(present.size());
  switch (how.combine) {
    case Combine::sum: return sum;
    case Combine::min: return *std::min_element(present.begin(), present.end());
    case Combine::max: return *std::max_element(present.begin(), present.end());
    case Combine::median: {
      std::sort(present.begin(), present.end());
      const size_t half = present.size() / 2;
      return present.size() % 2 ? present[half] : (present[half - 1] + present[half]) / 2;
    }
    case Combine::mean: return sum / count;
    case Combine::times_count: return sum * std::pow(count, how.exponent);
    case Combine::times_log_count: return sum * std::log(count + how.log_shift);
    case Combine::times_weight: return sum * weights;
    case Combine::times_root_count: return sum * std::sqrt(count);
    case Combine::condorcet: break;
  }
  return 0;
}

// --- Condorcet: a majority decides between two documents ---

/// A merge sort, because majorities can be cyclic, which std::sort does not allow.
template <class Wins>
void merge_sort(std::vector<uint32_t>& items, size_t from, size_t to, const Wins& wins) {
  if (to - from < 2) return;
  pause_point(from);
  const size_t middle = from + (to - from) / 2;
  merge_sort(items, from, middle, wins);
  merge_sort(items, middle, to, wins);
  std::vector<uint32_t> merged;
  size_t left = from, right = middle;
  while (left < middle && right < to)
    merged.push_back(wins(items[right], items[left]) ? items[right++] : items[left++]);
  merged.insert(merged.end(), items.begin() + static_cast<std::ptrdiff_t>(left),
                items.begin() + static_cast<std::ptrdiff_t>(middle));
  merged.insert(merged.end(), items.begin() + static_cast<std::ptrdiff_t>(right),
                items.begin() + static_cast<std::ptrdiff_t>(to));
  std::copy(merged.begin(), merged.end(), items.begin() + static_cast<std::ptrdiff_t>(from));
}

/// `ranks` is documents x runs. Documents start in the order of their Borda points, so that cycles and ties have the
/// same result for any order of the input.
Ranking elected(const Fusion& how, const IdTable& candidates, const std::vector<double>& ranks, size_t runs) {
  const size_t n = candidates.size();
  Ranking start;
  for (size_t c = 0; c < n; ++c) {
    double total = 0;
    for (size_t run = 0; run < runs; ++run) {
      const double rank = ranks[c * runs + run];
      total -= how.weights[run] * (std::isnan(rank) ? static_cast<double>(n) : rank);
    }
    start.push_back({candidates[c], total});
  }
  order(start);
  std::vector<uint32_t> items;
  for (const Placed& p : start) items.push_back(candidates.find(p.doc));
  merge_sort(items, 0, n, [&](uint32_t x, uint32_t y) {
    double votes = 0;
    for (size_t run = 0; run < runs; ++run) {
      const double a = ranks[x * runs + run], b = ranks[y * runs + run];
      if (std::isnan(a) && std::isnan(b)) continue;
      votes += how.weights[run] * (std::isnan(b) || a < b ? 1 : -1);
    }
    return votes > 0;
  });
  Ranking ranking;
  for (size_t i = 0; i < n; ++i) ranking.push_back({candidates[items[i]], static_cast<double>(n - i)});
  return ranking;
}

Ranking fuse_query(const std::vector<std::shared_ptr<const RankedRun>>& runs, Bytes query, const Fusion& how) {
  IdTable candidates;
  for (const auto& run : runs)
    for (const Placed& p : run->of(query)) candidates.add(p.doc);
  const size_t n = candidates.size(), width = runs.size();
  std::vector<double> doc_points(n * width, absent);
  for (size_t run = 0; run < width; ++run) {
    Ranking ranking = runs[run]->of(query);
    normalise(ranking, how.norm, candidates);
    for (size_t i = 0; i < ranking.size(); ++i)
      doc_points[candidates.find(ranking[i].doc) * width + run] =
          how.combine == Combine::condorcet ? static_cast<double>(i) : points(how, run, ranking, i, n);
    if (how.combine != Combine::sum) continue;
    const double rest = how.points == Points::borda ? (static_cast<double>(n - ranking.size()) + 1) / 2 : how.absent;
    for (size_t c = 0; c < n; ++c)
      if (std::isnan(doc_points[c * width + run])) doc_points[c * width + run] = rest;
  }
  Ranking ranking;
  if (how.combine == Combine::condorcet) {
    ranking = elected(how, candidates, doc_points, width);
  } else {
    std::vector<double> of_doc, present;
    for (size_t c = 0; c < n; ++c) {
      of_doc.assign(doc_points.begin() + static_cast<std::ptrdiff_t>(c * width),
                    doc_points.begin() + static_cast<std::ptrdiff_t>((c + 1) * width));
      ranking.push_back({candidates[c], combined(how, of_doc, present)});
    }
    order(ranking);
  }
  for (Placed& p : ranking)  // `candidates` ends here, so point into the runs' own bytes
    for (const auto& run : runs) {
      const Bytes id = run->own_id(p.doc);
      if (id.data()) {
        p.doc = id;
        break;
      }
    }
  return ranking;
}

}  // namespace

void RankedRun::add(Bytes query, Bytes doc, double score) {
  if (!std::isfinite(score))
    bad_input("the score of document " + in_quotes(doc) + " for query " + in_quotes(query) + " is not a finite number",
              name_, "remove the document, or give it a score");
  const uint32_t q = queries_.add(query);
  if (q == rankings_.size()) rankings_.emplace_back();
  rankings_[q].push_back({docs_[docs_.add(doc)], score});
}

void RankedRun::finish() {
  std::vector<Bytes> seen;
  for (size_t q = 0; q < rankings_.size(); ++q) {
    order(rankings_[q]);
    seen.clear();
    for (const Placed& p : rankings_[q]) seen.push_back(p.doc);
    std::sort(seen.begin(), seen.end());
    const auto twice = std::adjacent_find(seen.begin(), seen.end());
    if (twice != seen.end())
      duplicate_input("duplicate document " + in_quotes(*twice) + " for query " + in_quotes(queries_[q]), name_,
                      "a run may contain a document only once per query");
  }
}

const Ranking& RankedRun::of(Bytes query) const {
  static const Ranking none;
  const uint32_t q = queries_.find(query);
  return q == IdTable::none ? none : rankings_[q];
}

Bytes RankedRun::own_id(Bytes doc) const {
  const uint32_t d = docs_.find(doc);
  return d == IdTable::none ? Bytes{} : docs_[d];
}

std::vector<std::vector<uint8_t>> RankedRun::hits(const Qrels& qrels, double rel) const {
  std::vector<std::vector<uint8_t>> relevance;
  for (size_t i = 0; i < qrels.size(); ++i) {
    const QueryJudgments& query = qrels[i];
    if (queries_.find(query.id) == IdTable::none) continue;
    std::vector<uint8_t>& list = relevance.emplace_back();
    for (const Placed& p : of(query.id)) {
      const int32_t judgment = query.find(p.doc, hash_bytes(p.doc));
      list.push_back(judgment != QueryJudgments::unjudged && query.gains[static_cast<size_t>(judgment)] >= rel);
    }
  }
  return relevance;
}

namespace {

void require_one_per_run(size_t count, const char* singular, const char* plural, size_t runs) {
  if (count == runs) return;
  throw Error(ErrorKind::usage,
              "expected " + std::to_string(runs) + " " + (runs == 1 ? singular : plural) + ", one per run, got " +
                  std::to_string(count),
              {}, "pass as many as there are runs, in their order");
}

bool uses_tables(Points points) {
  return points == Points::table || points == Points::segments || points == Points::segments_times_score ||
         points == Points::window || points == Points::inverse;
}

}  // namespace

std::vector<Fused> fuse(const std::vector<std::shared_ptr<const RankedRun>>& runs, const Fusion& how,
                        unsigned threads) {
  require_one_per_run(how.weights.size(), "weight", "weights", runs.size());
  if (uses_tables(how.points)) {
    require_one_per_run(how.tables.size(), "table of points", "tables of points", runs.size());
    const bool may_be_empty = how.points != Points::segments && how.points != Points::inverse;
    for (const auto& table : how.tables)
      if (table.empty() && !may_be_empty)
        throw Error(ErrorKind::usage, "empty table of points", {}, "train on judged queries of these runs");
  }
  std::vector<Fused> fused;
  IdTable seen;
  for (const auto& run : runs)
    for (size_t q = 0; q < run->queries().size(); ++q)
      if (seen.add(run->queries()[q]) == fused.size()) fused.push_back({run->queries()[q], {}});
  in_parallel(fused.size(), threads, [&](size_t i) { fused[i].ranking = fuse_query(runs, fused[i].query, how); });
  return fused;
}

}  // namespace gg
