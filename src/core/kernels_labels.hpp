// What the measures of distinct targets and aspects share with their bounds over unjudged documents.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels_families.hpp"

namespace gg {

/// The labels of one query's documents, limited to those a document is relevant to.
class Labels {
 public:
  Labels(const Ranked& r, std::span<const Link> links, uint32_t labels, bool document_is_label, const Spec& s)
      : of_(r.query->docs.size()), documents_(std::max<size_t>(labels, 1), 0) {
    if (!links.empty()) {
      // A document may have several rows for a label: one for each aspect of a target, or the other way round.
      for (const Link& link : links)
        if (auto& own = of_[link.judgment];
            link.gain >= s.rel && std::find(own.begin(), own.end(), link.label) == own.end())
          own.push_back(link.label);
    } else {
      if (document_is_label) documents_.assign(r.query->docs.size(), 0);
      for (uint32_t d = 0; d < of_.size(); ++d)
        if (r.query->gains[d] >= s.rel) of_[d].push_back(document_is_label ? d : 0);
    }
    for (const auto& labels_of_document : of_)
      for (const uint32_t label : labels_of_document) ++documents_[label];
    for (const uint32_t n : documents_) with_documents_ += n > 0;
  }

  const std::vector<uint32_t>& of(const Hit& hit) const { return of_[hit.judgment]; }
  const std::vector<std::vector<uint32_t>>& all() const { return of_; }
  /// Labels that have a relevant document.
  uint32_t count() const { return with_documents_; }
  size_t size() const { return documents_.size(); }
  /// Relevant documents of a label.
  uint32_t documents(size_t label) const { return documents_[label]; }

 private:
  std::vector<std::vector<uint32_t>> of_;
  std::vector<uint32_t> documents_;
  uint32_t with_documents_ = 0;
};

inline Labels aspects(const Ranked& r, const Spec& s) { return {r, r.query->aspects, r.query->aspect_count, false, s}; }
inline Labels targets(const Ranked& r, const Spec& s) { return {r, r.query->targets, r.query->target_count, true, s}; }

inline double share(double part, double whole) { return whole > 0 ? part / whole : 0; }
inline Interval share(Interval part, double whole) { return {share(part.lower, whole), share(part.upper, whole)}; }

using Weight = double (*)(uint32_t rank, const Spec&);
inline double log_weight(uint32_t rank, const Spec&) { return 1 / log2_rank(rank); }
inline double inverse_rank(uint32_t rank, const Spec&) { return 1.0 / rank; }
inline double geometric(uint32_t rank, const Spec& s) { return std::pow(s.beta, rank - 1); }

/// The depth of the ideal list: the cutoff, or all judged documents.
inline uint32_t ideal_depth(const Ranked& r, const Spec& s) {
  return s.cutoff ? s.cutoff : static_cast<uint32_t>(r.query->docs.size());
}

}  // namespace gg
