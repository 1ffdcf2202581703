// Measures with their parameters, and policies.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace gg {

struct Ranked;

/// What RBP divides a grade by: the highest of all queries or of the query, each at least 1, or nothing.
enum class Scale { collection, query, none };

/// What a C/W/L measure expects: gain per document, total gain, cost per document, total cost, documents read.
enum class Expected { utility, total_utility, cost, total_cost, items };

/// The parameters of one measure; each kernel reads those it needs.
struct Spec {
  const struct Kernel* kernel = nullptr;
  uint32_t cutoff = 0;  // 0: the whole list
  double rel = 1;       // the lowest gain that counts as relevant
  bool binary = false;  // gains below `rel` count 0, others 1
  bool exp_gain = false;
  bool ideal_retrieved = false;
  double p = 0.8;
  double alpha = 0.5;
  double beta = 1;
  double max_grade = std::numeric_limits<double>::quiet_NaN();  // NaN: the highest judged gain, at least 1
  double recall = 0;
  bool recall_ceil = false;  // trec_eval 9's rounding of recall points
  double fp_penalty = 1;
  double fn_penalty = 1;
  bool punish_max = false;
  bool reference = false;
  double min_gain = 0;        // graded measures: gains below it count 0
  bool ideal_length = false;  // the ideal list is as long as the list itself
  bool returned = false;      // precision over the documents returned if they are fewer than the cutoff
  Scale scale = Scale::collection;
  bool negative_judged =
      false;  // Bpref: a negative gain is judged nonrelevant; undefined without any nonrelevant document
  double overlap_depth = 1000;  // Compat: 0 means the longer of the two lists
  bool normalise = true;        // Compat: divided by the overlap of the ideal list with itself
  Expected expected = Expected::utility;
  double T = 1;  // C/W/L: the gain that the reader wants
  double benefit_step = 0, cost_step = 0, median_gain = 0.5;
  bool empty_zero = false;      // Judged: 0 instead of undefined if nothing was retrieved
  std::vector<double> numbers;  // for measures with a list of parameters
};

enum class Ties { docid, docid_ascending, input, average, bounds };
/// `invented`: like trec_eval -c, a list with one unjudged document.
enum class Missing { zero, skip, invented };
enum class Unjudged { nonrelevant, remove, bounds };
enum class Duplicates { error, first, best };

struct Policy {
  Ties ties = Ties::docid;
  Missing missing = Missing::zero;
  Unjudged unjudged = Unjudged::nonrelevant;
  Duplicates duplicates = Duplicates::error;
  bool score32 = false;                                   // scores as 32-bit floats, like trec_eval 9
  bool drop_negative = false;                             // drop documents of negative gain, like trec_eval -J
  bool drop_same_id = false;                              // drop a document with the query's own id, like BEIR
  uint32_t depth = std::numeric_limits<uint32_t>::max();  // only the top ranks count

  bool bounds() const { return ties == Ties::bounds || unjudged == Unjudged::bounds; }
  bool operator==(const Policy&) const = default;
};

}  // namespace gg
