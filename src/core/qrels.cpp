#include "qrels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <unordered_map>

#include "error.hpp"
#include "evaluate.hpp"
#include "lines.hpp"
#include "parallel.hpp"

namespace gg {

uint32_t QueryJudgments::count_at_least(double gain) const {
  const auto end =
      std::partition_point(gains_sorted.begin(), gains_sorted.end(), [gain](double g) { return g >= gain; });
  return static_cast<uint32_t>(end - gains_sorted.begin());
}

void QrelsBuilder::add(Bytes query, Bytes doc, double gain, uint64_t place, Bytes target, Bytes aspect) {
  // Most rows have the query and the aspect of the row before.
  if (last_query_ == IdTable::none || !same_bytes(qrels_->ids_[last_query_], query))
    last_query_ = qrels_->ids_.add(query);
  if (aspect.data() && (last_aspect_ == IdTable::none || !same_bytes(aspects_[last_aspect_], aspect)))
    last_aspect_ = aspects_.add(aspect);
  rows_.push_back({last_query_, qrels_->arena_.keep(doc), gain, target.data() ? targets_.add(target) : IdTable::none,
                   aspect.data() ? last_aspect_ : IdTable::none, place});
}

namespace {

/// Renumbers global label ids 0, 1, ... within one query.
class LocalLabels {
 public:
  uint32_t operator()(uint32_t global) {
    return numbers_.try_emplace(global, static_cast<uint32_t>(numbers_.size())).first->second;
  }
  uint32_t size() const { return static_cast<uint32_t>(numbers_.size()); }

 private:
  std::unordered_map<uint32_t, uint32_t> numbers_;
};

}  // namespace

/// Whole numbers or names; 0.5 or -1 is the round in which something was judged.
bool QrelsBuilder::look_like_subtopics() const {
  for (size_t i = 0; i < aspects_.size(); ++i)
    if (double value = 0; parse_number(aspects_[i], value) && (value < 0 || value != std::floor(value))) return false;
  return true;
}

std::unique_ptr<Qrels> QrelsBuilder::finish(std::string name, bool places_are_lines, unsigned threads) {
  // A single aspect for all rows carries no information.
  return finish(std::move(name), places_are_lines, 0, targets_.size() > 0, aspects_.size() > 1, threads);
}

Error QrelsBuilder::duplicate(const QrelsRow& row, const QrelsRow& first, bool places_are_lines) const {
  const Qrels& q = *qrels_;
  return Error(ErrorKind::duplicate,
               "duplicate judgment of document " + in_quotes(row.doc) + " for query " + in_quotes(q.ids_[row.query]),
               (places_are_lines ? q.name + ":" : q.name + ", row ") + std::to_string(row.place),
               "the first one is in " + std::string(places_are_lines ? "line " : "row ") + std::to_string(first.place) +
                   "; keep one of the two");
}

void QrelsBuilder::fill_plain(const std::vector<size_t>& begin, const std::vector<uint32_t>& order,
                              bool places_are_lines, unsigned threads) {
  Qrels& q = *qrels_;
  const size_t n_queries = q.ids_.size();
  std::vector<size_t> slots(n_queries + 1, 0);
  for (size_t i = 0; i < n_queries; ++i) slots[i + 1] = slots[i] + std::bit_ceil((begin[i + 1] - begin[i]) * 2 + 1);
  const std::function<void()> tables[] = {[&] { q.slots_.resize(slots[n_queries]); },
                                          [&] { q.docs_.resize(rows_.size()); }, [&] { q.gains_.resize(rows_.size()); },
                                          [&] { q.gains_sorted_.resize(rows_.size()); }};
  in_parallel(std::size(tables), threads, [&](size_t i) { tables[i](); });  // the system clears the memory
  constexpr size_t per_task = 64;
  std::vector<double> highest((n_queries + per_task - 1) / per_task, q.max_gain_);
  in_parallel(highest.size(), threads, [&](size_t task) {
    for (size_t i = task * per_task; i < std::min(n_queries, (task + 1) * per_task); ++i) {
      QueryJudgments& query = q.queries_[i];
      const size_t n = begin[i + 1] - begin[i], mask = slots[i + 1] - slots[i] - 1;
      Bytes* docs = q.docs_.data() + begin[i];
      double *gains = q.gains_.data() + begin[i], *sorted = q.gains_sorted_.data() + begin[i];
      QueryJudgments::Slot* own = q.slots_.data() + slots[i];
      for (size_t k = 0; k < n; ++k) {
        const QrelsRow& row = rows_[order[begin[i] + k]];
        const uint64_t hash = hash_bytes(row.doc);
        const auto tag = static_cast<uint32_t>(hash >> 32);
        size_t s = hash & mask;
        for (; own[s].judgment != QueryJudgments::unjudged; s = (s + 1) & mask)
          if (own[s].tag == tag && docs[own[s].judgment] == row.doc)
            throw duplicate(row, rows_[order[begin[i] + static_cast<size_t>(own[s].judgment)]], places_are_lines);
        own[s] = {tag, static_cast<int32_t>(k)};
        docs[k] = row.doc;
        gains[k] = sorted[k] = row.gain;
      }
      std::sort(sorted, sorted + n, std::greater<>());
      query.id = q.ids_[i];
      query.docs = {docs, n};
      query.gains = {gains, n};
      query.gains_sorted = {sorted, n};
      query.slots = own;
      query.mask = mask;
      if (n > 0) highest[task] = std::max(highest[task], sorted[0]);
    }
  });
  for (const double gain : highest) q.max_gain_ = std::max(q.max_gain_, gain);
}

void Qrels::fill_filters(unsigned threads) {
  const auto words_for = [](const QueryJudgments& query) { return std::bit_ceil(query.docs.size() / 4 + 1); };
  std::vector<size_t> begin(queries_.size() + 1, 0);
  for (size_t i = 0; i < queries_.size(); ++i) begin[i + 1] = begin[i] + words_for(queries_[i]);
  filters_.resize(begin.back());
  constexpr size_t per_task = 1024;
  in_parallel((queries_.size() + per_task - 1) / per_task, threads, [&](size_t task) {
    for (size_t i = task * per_task; i < std::min(queries_.size(), (task + 1) * per_task); ++i) {
      QueryJudgments& query = queries_[i];
      uint64_t* filter = filters_.data() + begin[i];
      query.filter = filter;
      query.filter_mask = 64 * words_for(query) - 1;
      for (size_t s = 0; s <= query.mask; ++s)
        if (query.slots[s].judgment != QueryJudgments::unjudged) {
          const size_t bit = query.slots[s].tag & query.filter_mask;
          filter[bit / 64] |= uint64_t{1} << bit % 64;
        }
    }
  });
}

std::unique_ptr<Qrels> Qrels::merged(bool first) const {
  std::vector<double> gains(gains_);
  if (first)
    for (const auto& [doc, gain] : first_gains_) gains[doc] = gain;
  QrelsBuilder builder;
  builder.expect(docs_.size());
  uint64_t number = 0;
  for (const QueryJudgments& query : queries_)
    for (const Bytes doc : query.docs) {
      builder.add(query.id, doc, gains[number], number + 1);
      ++number;
    }
  auto qrels = builder.finish(name, false);
  qrels->query_kind = query_kind;
  qrels->doc_kind = doc_kind;
  return qrels;
}

std::unique_ptr<Qrels> QrelsBuilder::finish(std::string name, bool places_are_lines, double max_gain, bool has_targets,
                                            bool has_aspects, unsigned threads) {
  Qrels& q = *qrels_;
  q.name = std::move(name);
  const size_t n_queries = q.ids_.size();

  // Rows by query, in order of appearance (a counting sort).
  std::vector<size_t> begin(n_queries + 1, 0);
  for (const QrelsRow& row : rows_) ++begin[row.query + 1];
  for (size_t i = 0; i < n_queries; ++i) begin[i + 1] += begin[i];
  std::vector<uint32_t> order(rows_.size());
  {
    std::vector<size_t> next(begin.begin(), begin.end() - 1);
    for (uint32_t i = 0; i < rows_.size(); ++i) order[next[rows_[i].query]++] = i;
  }

  q.queries_.resize(n_queries);
  q.max_gain_ = max_gain;
  if (!has_targets && !has_aspects) {
    fill_plain(begin, order, places_are_lines, threads);
    q.fill_filters(threads);
    return std::move(qrels_);
  }
  q.docs_.reserve(rows_.size());
  q.gains_.reserve(rows_.size());
  const auto slots_for = [&](size_t query) { return std::bit_ceil((begin[query + 1] - begin[query]) * 2 + 1); };
  size_t all_slots = 0;
  for (size_t i = 0; i < n_queries; ++i) all_slots += slots_for(i);
  q.slots_.reserve(all_slots);

  struct Extent {
    size_t docs, docs_end, slots, slots_end, targets, targets_end, aspects, aspects_end;
  };
  std::vector<Extent> extents(n_queries);
  std::vector<uint32_t> first_rows;                                  // of each judged document
  std::unordered_map<uint32_t, std::vector<uint32_t>> further_rows;  // of those with several
  const bool subtopics = !iterations_ || look_like_subtopics();
  const auto same_labels = [&](const QrelsRow& a, const QrelsRow& b) {
    return (!has_targets || a.target == b.target) && (!has_aspects || a.aspect == b.aspect);
  };

  for (size_t i = 0; i < n_queries; ++i) {
    Extent& e = extents[i];
    e.docs = q.docs_.size();
    e.slots = q.slots_.size();
    e.targets = q.targets_.size();
    e.aspects = q.aspects_.size();
    const size_t size = slots_for(i);
    q.slots_.resize(e.slots + size);
    QueryJudgments::Slot* slots = q.slots_.data() + e.slots;
    first_rows.clear();
    further_rows.clear();
    LocalLabels target_numbers, aspect_numbers;

    for (size_t r = begin[i]; r < begin[i + 1]; ++r) {
      pause_point(r);
      const QrelsRow& row = rows_[order[r]];
      const uint64_t hash = hash_bytes(row.doc);
      const auto tag = static_cast<uint32_t>(hash >> 32);
      size_t s = hash & (size - 1);
      while (slots[s].judgment != QueryJudgments::unjudged &&
             !(slots[s].tag == tag && q.docs_[e.docs + static_cast<size_t>(slots[s].judgment)] == row.doc))
        s = (s + 1) & (size - 1);
      uint32_t judgment;
      if (slots[s].judgment == QueryJudgments::unjudged) {
        judgment = static_cast<uint32_t>(q.docs_.size() - e.docs);
        slots[s] = {tag, static_cast<int32_t>(judgment)};
        q.docs_.push_back(row.doc);
        q.gains_.push_back(row.gain);
        first_rows.push_back(order[r]);
      } else {  // judged before, for another target or aspect or by mistake
        judgment = static_cast<uint32_t>(slots[s].judgment);
        const QrelsRow& first = rows_[first_rows[judgment]];
        std::vector<uint32_t>& further = further_rows[judgment];
        const bool repeated =
            same_labels(first, row) ||
            std::any_of(further.begin(), further.end(), [&](uint32_t other) { return same_labels(rows_[other], row); });
        if (repeated || (iterations_ && !q.repeated_)) {
          const Error twice = duplicate(row, first, places_are_lines);
          if (repeated) throw twice;
          q.repeated_ = twice;
        }
        if (iterations_ && further.empty()) q.first_gains_.emplace_back(e.docs + judgment, first.gain);
        further.push_back(order[r]);
        double& gain = q.gains_[e.docs + judgment];
        gain = std::max(gain, row.gain);
      }
      if (has_targets)  // a row without a target has its document as target
        q.targets_.push_back(
            {judgment, row.target == IdTable::none ? IdTable::none : target_numbers(row.target), row.gain});
      if (has_aspects && subtopics && row.aspect != IdTable::none)
        q.aspects_.push_back({judgment, aspect_numbers(row.aspect), row.gain});
    }

    e.docs_end = q.docs_.size();
    e.slots_end = q.slots_.size();
    e.targets_end = q.targets_.size();
    e.aspects_end = q.aspects_.size();
    QueryJudgments& query = q.queries_[i];
    query.target_count = query.named_targets = target_numbers.size();
    for (size_t t = e.targets; t < e.targets_end; ++t)
      if (q.targets_[t].label == IdTable::none) q.targets_[t].label = query.target_count++;
    query.aspect_count = aspect_numbers.size();
    query.mask = size - 1;
  }

  q.gains_sorted_ = q.gains_;
  const auto by_judgment = [](const Link& a, const Link& b) { return a.judgment < b.judgment; };
  for (size_t i = 0; i < n_queries; ++i) {
    pause_point(i);
    const Extent& e = extents[i];
    QueryJudgments& query = q.queries_[i];
    query.id = q.ids_[i];
    const size_t n = e.docs_end - e.docs;
    query.docs = {q.docs_.data() + e.docs, n};
    query.gains = {q.gains_.data() + e.docs, n};
    std::sort(q.gains_sorted_.begin() + static_cast<std::ptrdiff_t>(e.docs),
              q.gains_sorted_.begin() + static_cast<std::ptrdiff_t>(e.docs_end), std::greater<>());
    query.gains_sorted = {q.gains_sorted_.data() + e.docs, n};
    query.slots = q.slots_.data() + e.slots;
    std::stable_sort(q.targets_.begin() + static_cast<std::ptrdiff_t>(e.targets),
                     q.targets_.begin() + static_cast<std::ptrdiff_t>(e.targets_end), by_judgment);
    std::stable_sort(q.aspects_.begin() + static_cast<std::ptrdiff_t>(e.aspects),
                     q.aspects_.begin() + static_cast<std::ptrdiff_t>(e.aspects_end), by_judgment);
    query.targets = {q.targets_.data() + e.targets, e.targets_end - e.targets};
    query.aspects = {q.aspects_.data() + e.aspects, e.aspects_end - e.aspects};
    if (n > 0) q.max_gain_ = std::max(q.max_gain_, query.gains_sorted[0]);
  }
  q.fill_filters(threads);
  return std::move(qrels_);
}

}  // namespace gg
