// The columns of Good Gain, and its bounds: shared by good_gain.cpp and gain_bounds.cpp.
#pragma once
#include <algorithm>
#include <vector>

#include "good_gain.hpp"
#include "registry.hpp"

namespace gg::gain {

/// The measures, in the order of the registry.
#define GOODGAIN_COLUMN(identifier, name) identifier,
enum Column : size_t { GOODGAIN_GAIN_COLUMNS(GOODGAIN_COLUMN) column_count };
#undef GOODGAIN_COLUMN

using Values = std::vector<double>;  // rows of all columns

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

inline double ratio(double part, double whole, double otherwise) { return whole > 0 ? part / whole : otherwise; }

/// The number of an iteration as IterationsForAllGoodResults has it: at most 100.
inline double capped(size_t iteration) { return std::min(static_cast<double>(iteration), 100.0); }

/// Bounds over what unlabelled results could be worth. `none` holds the values if nothing unlabelled is good, as
/// does `low` at first; `high` holds them if all of it has the highest gain.
void bound_unlabelled(const CountedSearches& counted, const GainOptions& options, const Values& none, Values& low,
                      Values& high);

/// Bounds over what unread searches could have returned, or undefined where it depends on how many results they had.
void bound_unread(const CountedSearches& counted, const GainOptions& options, Values& none, Values& low, Values& high);

/// Fills in what became of the evidence, in every row. `low` and `high` are empty while all values are exact.
void fill_funnel(const CountedSearches& counted, const GainOptions& options, Values& none, Values& low, Values& high);

}  // namespace gg::gain
