// From evidence to answer: the shares of the known good results that were opened and cited, and their bounds.
// docs/funnel.md defines them.
#include <cmath>

#include "gain_rows.hpp"

namespace gg::gain {

namespace {

struct Bounded {
  double value = nan, low = nan, high = nan;
};

/// part / whole, where `inside` further things may belong to both and `outside` ones to the whole only.
Bounded share(double part, double whole, double inside, double outside) {
  if (whole > 0) return {part / whole, part / (whole + outside), (part + inside) / (whole + inside)};
  return {nan, outside > 0 ? 0 : ratio(inside, inside, nan), inside > 0 ? 1 : ratio(0, outside, nan)};
}

/// The same for what is cited, where each of some markers may name a thing that is not known to be cited.
Bounded cited_share(double part, double whole, double inside, double outside, double markers) {
  Bounded all = share(part, whole, inside, outside);
  const double known = std::min(markers, whole - part), more = std::min(markers - known, outside);
  all.high = share(part + known, whole, inside + more, outside - more).high;
  return all;
}

/// What the iterations show of a conversation.
struct Course {
  size_t last_good = 0, last_unlabelled = 0;  // iterations, from 1; 0 for none
  size_t first_unread = 0;

  Course(const CountedSearches& counted, const GainOptions& o) {
    for (size_t i = 1; i <= counted.iterations.size(); ++i)
      for (const Searched& s : counted.iterations[i - 1].searches) {
        if (s.unread && !first_unread) first_unread = i;
        for (const Returned& r : s.results) {
          if (!r.is_new) continue;
          if (!r.labelled) last_unlabelled = i;
          else if (r.gain >= o.threshold) last_good = i;
        }
      }
  }
};

class Funnel {
 public:
  Funnel(const CountedSearches& counted, const GainOptions& o)
      : counted_(counted), f_(counted.funnel), o_(o), course_(counted, o), unread_(course_.first_unread > 0) {}

  Bounded opened_recall() const {
    // An unread search may have returned what was opened, and any number of good results that were not.
    const double more = unread_ && !o_.complete() ? f_.outside_opened : 0;
    Bounded all = share(f_.opened, f_.known, f_.unknown_opened + more, f_.unknown - f_.unknown_opened);
    pool_may_grow(all);
    if (unread_ && f_.by_content && (f_.known || !o_.complete())) all.high = 1;
    return all;
  }

  Bounded cited_recall() const {
    const double more = unread_ && !o_.complete() ? f_.outside_cited + f_.unresolved : 0;
    Bounded all =
        cited_share(f_.cited, f_.known, f_.unknown_cited + more, f_.unknown - f_.unknown_cited, f_.unresolved);
    pool_may_grow(all);
    return all;
  }

  Bounded cited_of_returned() const {
    double inside = f_.own_unknown_cited, outside = f_.own_unknown - f_.own_unknown_cited;
    if (unread_) {  // it may have returned any of the evidence that no search is known to have returned
      const double cited = f_.cited - f_.cited_returned;
      inside += cited + (f_.unknown_cited - f_.own_unknown_cited);
      outside +=
          f_.known - f_.returned - cited + (f_.unknown - f_.own_unknown) - (f_.unknown_cited - f_.own_unknown_cited);
      if (!o_.complete()) inside += f_.outside_cited + f_.unresolved;
    }
    Bounded all = cited_share(f_.cited_returned, f_.returned, inside, outside, f_.unresolved);
    pool_may_grow(all);
    return all;
  }

  Bounded citation_precision() const {
    const double known = f_.good_citations + f_.other_citations, open = f_.unlabelled_citations + f_.unresolved;
    if (known + open == 0) return {};
    return {ratio(f_.good_citations, known, nan), f_.good_citations / (known + open),
            (f_.good_citations + open) / (known + open)};
  }

  Bounded unsupported_citations() const {
    const double most = static_cast<double>(f_.unsupported) + f_.unresolved;
    const double certain = unread_ ? 0 : f_.unsupported;  // an unread search may have returned all of them
    return {certain, certain, most};
  }

  /// Iterations after the last one that brought evidence, while some was missing.
  Bounded dry_iterations() const {
    const auto n = static_cast<double>(counted_.iterations.size());
    const auto last = static_cast<double>(course_.last_good);
    const auto last_possible = static_cast<double>(std::max(course_.last_good, course_.last_unlabelled));
    const bool misses = f_.known > f_.returned, may_miss = misses || f_.unknown > f_.own_unknown;
    Bounded all;
    if (f_.known) {
      all.value = misses ? n - last : 0;
      all.low = misses && !unread_ ? n - last_possible : 0;
      all.high = may_miss ? n - (unread_ ? std::min(last, static_cast<double>(course_.first_unread)) : last) : 0;
    } else if (f_.unknown || (unread_ && !o_.complete())) {
      all.low = f_.own_unknown || unread_ ? 0 : n;
      all.high = may_miss ? n : 0;
    }
    return all;
  }

 private:
  /// Good results of unread searches that were not used would enlarge the whole without limit.
  void pool_may_grow(Bounded& all) const {
    if (!unread_ || o_.complete()) return;
    all.low = 0;
    if (std::isnan(all.high)) all.high = 0;
  }

  const CountedSearches& counted_;
  const FunnelCounts& f_;
  const GainOptions& o_;
  Course course_;
  bool unread_;
};

}  // namespace

void fill_funnel(const CountedSearches& counted, const GainOptions& o, Values& none, Values& low, Values& high) {
  const Funnel funnel(counted, o);
  const bool has_answer = counted.funnel.has_answer;
  const std::pair<Column, Bounded> values[] = {
      {OpenedRecall, funnel.opened_recall()},
      {CitedRecall, has_answer ? funnel.cited_recall() : Bounded()},
      {CitedOfReturned, has_answer ? funnel.cited_of_returned() : Bounded()},
      {CitationPrecision, has_answer ? funnel.citation_precision() : Bounded()},
      {UnsupportedCitations, has_answer ? funnel.unsupported_citations() : Bounded()},
      {DryIterations, funnel.dry_iterations()},
      {Confidence, {counted.confidence, counted.confidence, counted.confidence}},
  };
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  bool exact = true;
  for (const auto& [column, bounded] : values)
    exact &= same(bounded.value, bounded.low) && same(bounded.value, bounded.high);
  if (!exact && low.empty()) low = high = none;
  for (size_t at = 0; at < none.size(); at += column_count)
    for (const auto& [column, bounded] : values) {
      none[at + column] = bounded.value;
      if (low.empty()) continue;
      low[at + column] = bounded.low;
      high[at + column] = bounded.high;
    }
}

}  // namespace gg::gain
