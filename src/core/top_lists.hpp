// The first ranks of every query of a run, and what each judged document there adds to each measure.
#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "ranking.hpp"
#include "spec.hpp"

namespace gg {

/// One query's first ranks. The ids of documents stand in `text`, one after another.
struct TopList {
  uint32_t retrieved = 0;
  std::string text;
  std::vector<uint32_t> ends;  // of the ids, by rank
  std::vector<double> scores;
  std::vector<uint32_t> ranks;      // of the judged ones
  std::vector<uint32_t> judgments;  // beside the ranks
  std::vector<double> gains;        // beside the ranks
  std::vector<double> contributions;  // measures x ranks: what each adds; NaN where a measure is no sum over ranks
  std::vector<double> bases;        // measures: the value when nothing is judged
};

/// Filled while a run is measured; queries may come from any thread, and once more where a file scatters them.
class TopLists {
 public:
  TopLists(size_t queries, size_t measures, uint32_t depth) : depth_(depth), measures_(measures), lists_(queries) {}

  size_t size() const { return lists_.size(); }
  size_t measures() const { return measures_; }
  const TopList& operator[](size_t query) const { return lists_[query]; }

  /// The list as the first policy orders it.
  TopList begin(const Ranked& ranked, const std::vector<Row>& rows, std::span<const uint32_t> order) const;
  /// What each judged document of the list adds to a measure; the list may be ordered by another policy.
  void explain(TopList& list, const Ranked& ranked, const Policy& policy, const Spec& spec, size_t measure) const;
  void keep(size_t query, TopList list);

 private:
  uint32_t depth_;
  size_t measures_;
  std::vector<TopList> lists_;
  std::mutex mutex_;
};

}  // namespace gg
