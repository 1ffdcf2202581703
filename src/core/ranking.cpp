#include "ranking.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace gg {

size_t Ranker::drop_duplicates(std::vector<Row>& rows, Duplicates policy) {
  const size_t size = std::bit_ceil(rows.size() * 2 + 1);
  seen_.assign(size, 0);
  size_t kept = 0;
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
      if (dropped) rows[kept] = row;
      seen_[s] = static_cast<uint32_t>(++kept);
      continue;
    }
    if (policy == Duplicates::error) return i;
    Row& first = rows[seen_[s] - 1];
    if (policy == Duplicates::best && row.score > first.score) first.score = row.score;
    dropped = true;
  }
  rows.resize(kept);
  return kept;
}

Ranked Ranker::order(const Qrels& qrels, const QueryJudgments& query, std::vector<Row>& rows, const Policy& policy) {
  if (policy.unjudged == Unjudged::remove)
    std::erase_if(rows, [](const Row& row) { return row.judgment == QueryJudgments::unjudged; });
  if (policy.score32)
    for (Row& row : rows) row.score = static_cast<double>(static_cast<float>(row.score));

  const auto n = static_cast<uint32_t>(rows.size());
  order_.resize(n);
  std::iota(order_.begin(), order_.end(), 0u);
  const auto descending = [](const Row& a, const Row& b) { return a.score > b.score; };
  if (!std::is_sorted(rows.begin(), rows.end(), descending))
    std::sort(order_.begin(), order_.end(), [&rows](uint32_t a, uint32_t b) {
      return rows[a].score != rows[b].score ? rows[a].score > rows[b].score : a < b;
    });

  const bool want_blocks = policy.ties == Ties::average || policy.ties == Ties::bounds;
  hits_.clear();
  hits_.reserve(std::min<size_t>(n, query.docs.size()));
  blocks_.clear();
  for (uint32_t i = 0; i < n;) {
    uint32_t end = i + 1;
    while (end < n && rows[order_[end]].score == rows[order_[i]].score) ++end;
    const auto first_hit = static_cast<uint32_t>(hits_.size());
    if (end - i > 1 && policy.ties != Ties::input)
      std::sort(order_.begin() + i, order_.begin() + end,
                [&rows](uint32_t a, uint32_t b) { return rows[a].doc > rows[b].doc; });
    for (uint32_t r = i; r < end; ++r) {
      const int32_t judgment = rows[order_[r]].judgment;
      if (judgment != QueryJudgments::unjudged) hits_.push_back({r + 1, static_cast<uint32_t>(judgment)});
    }
    const auto last_hit = static_cast<uint32_t>(hits_.size());
    if (want_blocks && last_hit > first_hit) blocks_.push_back({i + 1, end - i, first_hit, last_hit});
    i = end;
  }
  return {&query, n, n - static_cast<uint32_t>(hits_.size()), hits_, blocks_, qrels.max_gain()};
}

}  // namespace gg
