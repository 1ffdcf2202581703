// What is asked of the core: measures with their parameters, and the policies.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace gg {

struct Ranked;

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
};

enum class Ties { docid, input, average, bounds };
enum class Missing { zero, skip };
enum class Unjudged { nonrelevant, remove, bounds };
enum class Duplicates { error, first, best };

struct Policy {
  Ties ties = Ties::docid;
  Missing missing = Missing::zero;
  Unjudged unjudged = Unjudged::nonrelevant;
  Duplicates duplicates = Duplicates::error;
  bool score32 = false;  // scores as 32-bit floats, as trec_eval 9 reads them

  bool bounds() const { return ties == Ties::bounds || unjudged == Unjudged::bounds; }
};

}  // namespace gg
