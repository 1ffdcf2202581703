// Ranks the results of one query, reduced to what the measures need: the ranks of the judged documents.
#pragma once
#include <span>
#include <vector>

#include "bytes.hpp"
#include "qrels.hpp"
#include "spec.hpp"

namespace gg {

/// One line of a run.
struct Row {
  uint64_t hash;
  Bytes doc;
  double score;
  int32_t judgment;
  uint32_t number = 0;  // among the rows of the query as they were read, for messages
};

/// Looks up the judgments of rows that have only a document and a score.
inline void find_judgments(const QueryJudgments& query, std::vector<Row>& rows) {
  for (Row& row : rows) {
    row.hash = hash_bytes(row.doc);
    row.judgment = query.find(row.doc, row.hash);
  }
}

/// A judged document and its rank, from 1.
struct Hit {
  uint32_t rank;
  uint32_t judgment;
};

/// Documents with the same score: `size` ranks from `first`, with the judged hits [begin, end).
struct Block {
  uint32_t first;
  uint32_t size;
  uint32_t begin;
  uint32_t end;
};

/// The ranking of one query as the measures see it. Unjudged documents only occupy ranks.
struct Ranked {
  const QueryJudgments* query;
  uint32_t retrieved;                         // documents in the list
  uint32_t unjudged;                          // unjudged documents in the list
  std::span<const Hit> hits;                  // by rank
  std::span<const Block> blocks;              // cover all hits; only filled in for ties = average or bounds
  double max_gain;                            // the highest gain in the qrels
  std::span<const Bytes> unjudged_docs = {};  // by rank; only filled in for unjudged = bounds
};

/// Ranks rows; reuses its memory between queries. One per thread.
class Ranker {
 public:
  /// Removes duplicate documents; under Duplicates::error, calls `on_duplicate` with the second row, which does not
  /// return.
  template <class OnDuplicate>
  Ranked rank(const Qrels& qrels, const QueryJudgments& query, std::vector<Row>& rows, const Policy& policy,
              bool may_repeat, OnDuplicate&& on_duplicate) {
    if (rows.size() > policy.depth) cut(rows, policy);  // a duplicate further down does not count
    distinct_ = rows.size();
    if (may_repeat) {
      const size_t repeated = drop_duplicates(rows, policy.duplicates);
      if (repeated != rows.size()) on_duplicate(rows[repeated]);
      distinct_ = rows.size();
    }
    return order(qrels, query, rows, policy);
  }

  /// Rows left after removing duplicates, before any other policy.
  size_t distinct() const { return distinct_; }

  /// Row indices in rank order after `rank`.
  std::span<const uint32_t> order() const { return order_; }

 private:
  /// The index of a repeated row under Duplicates::error; rows.size() if there is none.
  size_t drop_duplicates(std::vector<Row>& rows, Duplicates policy);
  /// False if all documents certainly differ.
  bool may_repeat(const std::vector<Row>& rows);
  Ranked order(const Qrels& qrels, const QueryJudgments& query, std::vector<Row>& rows, const Policy& policy);
  /// Sorts `order_` by rank.
  void sort(const std::vector<Row>& rows, const Policy& policy);
  void sort_by_score(const std::vector<Row>& rows);
  /// Keeps only the rows of the top ranks.
  void cut(std::vector<Row>& rows, const Policy& policy);

  size_t distinct_ = 0;
  std::vector<uint32_t> seen_;    // open-addressing table of row numbers + 1
  std::vector<uint64_t> filter_;  // a bit for each hash, and one for each that came again
  std::vector<uint64_t> again_;   // hashes whose bit came again
  struct Key {
    uint64_t value;
    uint32_t row;
  };
  std::vector<Key> keys_;
  std::vector<uint32_t> order_;
  std::vector<Hit> hits_;
  std::vector<Block> blocks_;
  std::vector<Bytes> unjudged_docs_;
};

}  // namespace gg
