#include "ranking.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

namespace gg {

/// Nearly all lists have no duplicates, which takes no branch to see: whether a slot of a table is free cannot be
/// predicted.
bool Ranker::may_repeat(const std::vector<Row>& rows) {
  const size_t words = std::bit_ceil(rows.size());
  filter_.assign(2 * words, 0);
  again_.resize(rows.size() + 1);
  uint64_t *const seen = filter_.data(), *const twice = seen + words;
  const auto word = [words](uint64_t hash) { return hash >> 6 & (words - 1); };
  uint64_t any = 0;
  for (const Row& row : rows) {
    const uint64_t bit = uint64_t{1} << (row.hash & 63);
    uint64_t& of = seen[word(row.hash)];
    twice[word(row.hash)] |= of & bit;
    any |= of & bit;
    of |= bit;
  }
  if (!any) return false;
  size_t count = 0;
  for (const Row& row : rows) {
    again_[count] = row.hash;
    count += twice[word(row.hash)] >> (row.hash & 63) & 1;
  }
  const auto end = again_.begin() + static_cast<ptrdiff_t>(count);
  std::sort(again_.begin(), end);
  return std::adjacent_find(again_.begin(), end) != end;
}

size_t Ranker::drop_duplicates(std::vector<Row>& rows, Duplicates policy) {
  if (rows.empty() || !may_repeat(rows)) return rows.size();
  const size_t size = std::bit_ceil(rows.size() * 2 + 1);
  seen_.assign(size, 0);
  size_t count = 0;
  bool dropped = false;
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    size_t s = row.hash & (size - 1);
    while (seen_[s] != 0) {
      const Row& other = rows[seen_[s] - 1];
      if (other.hash == row.hash && other.doc == row.doc) break;
      s = (s + 1) & (size - 1);
    }
    if (seen_[s] == 0) {
      if (dropped) rows[count] = row;
      seen_[s] = static_cast<uint32_t>(++count);
      continue;
    }
    if (policy == Duplicates::error) return i;
    Row& first = rows[seen_[s] - 1];
    if (policy == Duplicates::best && row.score > first.score) first.score = row.score;
    dropped = true;
  }
  rows.resize(count);
  return count;
}

/// Sorts by descending score, stably: with keys that grow as scores fall, a radix sort of their upper halves, after
/// which few rows are left to be put into order.
void Ranker::sort_by_score(const std::vector<Row>& rows) {
  const size_t n = rows.size();
  if (n < 128) {  // too few for a radix sort
    std::sort(order_.begin(), order_.end(), [&rows](uint32_t a, uint32_t b) {
      return rows[a].score != rows[b].score ? rows[a].score > rows[b].score : a < b;
    });
    return;
  }
  keys_.resize(2 * n);
  Key *from = keys_.data(), *to = from + n;
  constexpr size_t first_byte = 4;
  std::array<std::array<uint32_t, 256>, 8 - first_byte> counts{};
  for (uint32_t i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<uint64_t>(rows[i].score + 0.0);  // -0 is 0
    const uint64_t key = bits >> 63 ? bits : ~bits & ~(1ULL << 63);
    from[i] = {key, i};
    for (size_t byte = first_byte; byte < 8; ++byte) ++counts[byte - first_byte][key >> (8 * byte) & 255];
  }
  for (size_t byte = first_byte; byte < 8; ++byte) {
    std::array<uint32_t, 256>& place = counts[byte - first_byte];
    if (place[from[0].value >> (8 * byte) & 255] == n) continue;  // all equal
    uint32_t next = 0;
    for (uint32_t& p : place) next += std::exchange(p, next);
    for (size_t i = 0; i < n; ++i) to[place[from[i].value >> (8 * byte) & 255]++] = from[i];
    std::swap(from, to);
  }
  const auto upper = [](const Key& key) { return key.value >> (8 * first_byte); };
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && upper(from[end]) == upper(from[i]);) ++end;
    if (end - i > 1)
      std::sort(from + i, from + end,
                [](const Key& a, const Key& b) { return a.value != b.value ? a.value < b.value : a.row < b.row; });
  }
  for (size_t i = 0; i < n; ++i) order_[i] = from[i].row;
}

void Ranker::sort(const std::vector<Row>& rows, const Policy& policy) {
  const auto n = static_cast<uint32_t>(rows.size());
  order_.resize(n);
  std::iota(order_.begin(), order_.end(), 0u);
  const auto descending = [](const Row& a, const Row& b) { return a.score > b.score; };
  if (!std::is_sorted(rows.begin(), rows.end(), descending)) sort_by_score(rows);
  if (policy.ties == Ties::input) return;
  const bool ascending = policy.ties == Ties::docid_ascending;
  for (uint32_t i = 1; i < n; ++i) {
    const double score = rows[order_[i - 1]].score;
    if (rows[order_[i]].score != score) continue;
    const auto tied = order_.begin() + (i - 1);
    while (i < n && rows[order_[i]].score == score) ++i;
    std::sort(tied, order_.begin() + i, [&rows, ascending](uint32_t a, uint32_t b) {
      return ascending ? rows[a].doc < rows[b].doc : rows[a].doc > rows[b].doc;
    });
  }
}

void Ranker::cut(std::vector<Row>& rows, const Policy& policy) {
  if (policy.score32)
    for (Row& row : rows) row.score = static_cast<double>(static_cast<float>(row.score));
  sort(rows, policy);
  order_.resize(policy.depth);
  std::sort(order_.begin(), order_.end());
  for (uint32_t i = 0; i < policy.depth; ++i) rows[i] = rows[order_[i]];
  rows.resize(policy.depth);
}

Ranked Ranker::order(const Qrels& qrels, const QueryJudgments& query, std::vector<Row>& rows, const Policy& policy) {
  if (policy.score32)
    for (Row& row : rows) row.score = static_cast<double>(static_cast<float>(row.score));
  if (policy.drop_same_id) std::erase_if(rows, [&query](const Row& row) { return row.doc == query.id; });
  if (policy.unjudged == Unjudged::remove)
    std::erase_if(rows, [](const Row& row) { return row.judgment == QueryJudgments::unjudged; });
  if (policy.drop_negative)
    std::erase_if(rows, [&query](const Row& row) {
      return row.judgment != QueryJudgments::unjudged && query.gains[static_cast<size_t>(row.judgment)] < 0;
    });

  const auto n = static_cast<uint32_t>(rows.size());
  sort(rows, policy);
  const bool want_blocks = policy.ties == Ties::average || policy.ties == Ties::bounds;
  hits_.clear();
  hits_.reserve(std::min<size_t>(n, query.docs.size()));
  blocks_.clear();
  unjudged_docs_.clear();
  if (policy.unjudged == Unjudged::bounds)
    for (const uint32_t row : order_)
      if (rows[row].judgment == QueryJudgments::unjudged) unjudged_docs_.push_back(rows[row].doc);
  for (uint32_t i = 0; i < n;) {
    uint32_t end = i + 1;
    if (want_blocks)
      while (end < n && rows[order_[end]].score == rows[order_[i]].score) ++end;
    const auto first_hit = static_cast<uint32_t>(hits_.size());
    for (uint32_t r = i; r < end; ++r) {
      const int32_t judgment = rows[order_[r]].judgment;
      if (judgment != QueryJudgments::unjudged) hits_.push_back({r + 1, static_cast<uint32_t>(judgment)});
    }
    const auto last_hit = static_cast<uint32_t>(hits_.size());
    if (want_blocks && last_hit > first_hit) blocks_.push_back({i + 1, end - i, first_hit, last_hit});
    i = end;
  }
  return {.query = &query,
          .retrieved = n,
          .unjudged = n - static_cast<uint32_t>(hits_.size()),
          .hits = hits_,
          .blocks = blocks_,
          .max_gain = qrels.max_gain(),
          .unjudged_docs = unjudged_docs_};
}

}  // namespace gg
