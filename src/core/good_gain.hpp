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

struct GainOptions {
  double threshold = 2;
  double max_gain = 4;
  GainScale scale = GainScale::linear;
  Discount discount = Discount::log2;
  double patience = 0.8;  // for the geometric discount
};

/// What a step or a search spent; NaN where unknown.
struct Usage {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  double tokens = unknown, cost = unknown, seconds = unknown;
};

/// A result after identity: whether it is new, and its gain if labelled.
struct Returned {
  bool is_new;
  bool labelled;
  double gain;
  const std::vector<std::pair<std::string_view, double>>* aspects;
};

struct Searched {
  std::vector<Returned> results;
  bool repeats_query;
  double latency, cost, tokens;
};

using Iteration = std::vector<Searched>;

/// One row per iteration; bounds are stored only once an unlabelled result makes them differ from the values.
struct GainRows {
  std::vector<double> values, lower, upper;
  bool bounded = false;

  void add_bounds() {
    if (!bounded) lower = upper = values;
    bounded = true;
  }
  /// Moves the rows of another behind its own.
  void join(GainRows& more);
};

/// The names of the columns of GainRows.
std::span<const char* const> gain_columns();

/// Appends one row per iteration. `missed` holds the gains of known good results that no search returned.
void append_good_gain(const std::vector<Iteration>& iterations, std::span<const double> missed,
                      const GainOptions& options, GainRows& rows);

}  // namespace gg
