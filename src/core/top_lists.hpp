// The top ranks of every query of a run, with the contribution of each judged document to each measure.
#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "ranking.hpp"
#include "spec.hpp"

namespace gg {

/// The top ranks of one query. `text` holds the concatenated document ids.
struct TopList {
  uint32_t retrieved = 0;
  std::string text;
  std::vector<uint32_t> ends;  // of the ids, by rank
  std::vector<double> scores;
  std::vector<uint32_t> ranks;        // of the judged documents
  std::vector<uint32_t> judgments;    // parallel to ranks
  std::vector<double> gains;          // parallel to ranks
  std::vector<double> contributions;  // measures x ranks; NaN if a measure is not a sum over ranks
  std::vector<double> bases;          // per measure: the value if nothing is judged
  std::vector<Hit> later;             // judged documents below the listed ranks
};

/// Filled while a run is measured, from any thread; a query comes twice if it is scattered over a file.
class TopLists {
 public:
  TopLists(size_t queries, size_t measures, uint32_t depth) : depth_(depth), measures_(measures), lists_(queries) {}

  size_t size() const { return lists_.size(); }
  size_t measures() const { return measures_; }
  const TopList& operator[](size_t query) const { return lists_[query]; }

  /// The list in the order of the first policy.
  TopList begin(const Ranked& ranked, const std::vector<Row>& rows, std::span<const uint32_t> order) const;
  /// Adds the contribution of each judged document to a measure, whose policy may order the list differently.
  void explain(TopList& list, const Ranked& ranked, const Policy& policy, const Spec& spec, size_t measure) const;
  void keep(size_t query, TopList list);

 private:
  uint32_t depth_;
  size_t measures_;
  std::vector<TopList> lists_;
  std::mutex mutex_;
};

}  // namespace gg
