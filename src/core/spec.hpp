// What is asked of the core: measures with their parameters, and the policies.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace gg {

struct Ranked;

/// What RBP divides a grade by: the highest of all queries, that of the query if it is above 1, or nothing.
enum class Scale { collection, query, none };

/// The parameters of one measure; a kernel reads those it knows.
struct Spec {
  const struct Kernel* kernel = nullptr;
  uint32_t cutoff = 0;  // 0: the whole list
  double rel = 1;       // the lowest gain that counts as relevant
  bool binary = false;  // gains below `rel` count 0 and others 1
  bool exp_gain = false;
  bool ideal_retrieved = false;
  double p = 0.8;
  double alpha = 0.5;
  double beta = 1;
  double max_grade = std::numeric_limits<double>::quiet_NaN();  // NaN: the highest gain judged
  double recall = 0;
  bool recall_ceil = false;  // trec_eval 9's rounding of recall points
  double fp_penalty = 1;
  double fn_penalty = 1;
  bool punish_max = false;
  bool reference = false;
  double min_gain = 0;             // graded measures: gains below it count 0
  bool ideal_length = false;       // the ideal list is cut where the list itself ends
  bool returned = false;           // precision over what was returned, where that is less than the cut-off
  Scale scale = Scale::collection;
  bool negative_judged = false;    // Bpref: a negative gain is judged nonrelevant, and none of those is undefined
  double overlap_depth = 1000;     // Compat: 0 is the longer of the two lists
  bool empty_zero = false;         // Judged: nothing retrieved is 0, not undefined
  std::vector<double> numbers;     // for measures with a list of parameters
};

enum class Ties { docid, docid_ascending, input, average, bounds };
/// `invented`: as trec_eval -c does it, a list of one document that nobody judged.
enum class Missing { zero, skip, invented };
enum class Unjudged { nonrelevant, remove, bounds };
enum class Duplicates { error, first, best };

struct Policy {
  Ties ties = Ties::docid;
  Missing missing = Missing::zero;
  Unjudged unjudged = Unjudged::nonrelevant;
  Duplicates duplicates = Duplicates::error;
  bool score32 = false;         // scores as 32-bit floats, as trec_eval 9 reads them
  bool drop_negative = false;   // documents of negative gain leave the list, as with trec_eval -J
  bool drop_same_id = false;    // a document with the query's own id leaves the list, as in BEIR
  uint32_t depth = 0;           // only the first documents count; 0: all

  bool bounds() const { return ties == Ties::bounds || unjudged == Unjudged::bounds; }
  bool operator==(const Policy&) const = default;
};

}  // namespace gg
