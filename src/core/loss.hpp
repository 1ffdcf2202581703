// RaDiCuGLoss: rank-discounted gain and loss, as documented and as in the published package.
#pragma once
#include <span>
#include <vector>

#include "kernels.hpp"

namespace gg {

/// The true items of one query, and the gains and losses of a list. The worth of an item is its true rank, inverted so
/// that larger is better.
class GainLoss {
 public:
  /// `worths`: of all true items, in any order. `inverted`: whether they are inverted ranks. `max_rank`: the largest
  /// true rank before inversion.
  GainLoss(std::vector<double> worths, const Spec& spec, bool inverted, double max_rank);

  /// The gain of an item of this worth at a position (from 1).
  double earned(double worth, uint32_t position) const;
  /// The loss for a false positive at a position; `last` is the worth of the last true item above it.
  double false_positive(uint32_t position, double last) const;
  double false_negative(double worth) const;
  /// The value of `last` before the first true item.
  static constexpr double start = 1;
  /// The score of the perfect list.
  double perfect() const { return perfect_; }
  bool costs_depend_on_last() const { return spec_.reference && !spec_.punish_max; }

 private:
  double place(uint32_t position) const;  // a in the documented form
  double documented_gain(double worth, double a) const;
  double reference_assumed(uint32_t position, bool inverted) const;

  Spec spec_;
  bool inverted_;
  std::vector<double> sorted_;   // worths, best first
  std::vector<uint32_t> group_;  // parallel to it; the best group is 1
  double max_rank_;
  double max_gain_ = 0;
  double perfect_ = 0;
};

/// The list form: `list[i]` is the worth of the item at a position, NaN for a false positive;
/// `missing` are the worths of true items that are not in the list.
double gain_loss(std::span<const double> list, std::span<const double> missing, std::vector<double> worths,
                 const Spec& spec, bool inverted, double max_rank, bool normalise);

}  // namespace gg
