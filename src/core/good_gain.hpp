// Good Gain of one conversation, from the results of its searches.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gg {

enum class GainScale { linear, exponential };
enum class Discount { log2, none, reciprocal, geometric };
enum class Unlabelled { unknown, zero };

struct GainOptions {
  double threshold = 2;
  double max_gain = 4;
  GainScale scale = GainScale::linear;
  Discount discount = Discount::log2;
  double patience = 0.8;  // for the geometric discount
  Unlabelled unlabelled = Unlabelled::unknown;

  double weight(size_t iteration) const;
  /// The good gain of a result with this gain.
  double worth(double gain) const;
  /// Every good result is labelled, so the pool cannot grow.
  bool complete() const { return unlabelled == Unlabelled::zero; }
};

/// What a step or a search spent; NaN where unknown.
struct Usage {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  double tokens = unknown, cost = unknown, seconds = unknown;
};

using Aspects = std::vector<std::pair<std::string, double>>;

/// A result after identity: whether it is new, and its gain if labelled.
struct Returned {
  bool is_new;
  bool labelled;
  uint32_t aspects;  // in CountedSearches::aspects, from 1; 0 if it has none
  double gain;
};

struct Searched {
  std::vector<Returned> results;
  bool repeats_query = false;
  bool failed = false;
  bool unread = false;  // returned more than `results`
};

struct Iteration {
  std::vector<Searched> searches;
  Usage spent;  // from the beginning to the end of this iteration
};

/// What became of the known good results of a conversation (the evidence), and what its answer cites.
struct FunnelCounts {
  uint32_t known = 0, returned = 0, opened = 0, cited = 0, cited_returned = 0;
  uint32_t unknown = 0, unknown_opened = 0, unknown_cited = 0;  // unlabelled results of any system
  uint32_t own_unknown = 0, own_unknown_cited = 0;              // those that this conversation returned
  uint32_t outside_opened = 0, outside_cited = 0;  // unlabelled documents that no search is known to have returned
  uint32_t good_citations = 0, other_citations = 0, unlabelled_citations = 0, unsupported = 0;
  uint32_t opens = 0;       // calls that opened something, and results with content if they count
  uint32_t unresolved = 0;  // markers that name nothing that is known
  bool has_answer = false;  // otherwise it is not known what is cited
  bool by_content = false;  // a result with its content counts as opened
};

/// A conversation with all that its measures depend on.
struct CountedSearches {
  std::vector<Iteration> iterations;
  std::vector<Aspects> aspects;    // of results that have any
  std::vector<double> missed;      // gains of known good results that no search returned
  uint32_t unlabelled_missed = 0;  // unlabelled results that only other systems returned
  Usage total;                     // of the whole turns
  bool evidence_known = false;     // something is labelled, so a gain of 0 is a finding
  FunnelCounts funnel;
  double confidence = Usage::unknown;  // that the answer states
};

/// Rows of one conversation; bounds are stored only where they differ from the values.
struct GainRows {
  std::vector<double> values, lower, upper;
  bool bounded = false;

  void add_bounds() {
    if (!bounded) lower = upper = values;
    bounded = true;
  }
  /// Appends rows of another.
  void append(const GainRows& other, size_t first, size_t count);
  /// Moves the rows of another behind its own.
  void join(GainRows& more);
};

/// The names of the columns of GainRows.
std::span<const char* const> gain_columns();

/// Appends one row per iteration, or a single row if there is none.
void append_good_gain(const CountedSearches& counted, const GainOptions& options, GainRows& rows);

}  // namespace gg
