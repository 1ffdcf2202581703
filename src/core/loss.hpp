// RaDiCuGLoss: rank-discounted gain and loss, in the documented form and in that of the published package.
#pragma once
#include <span>
#include <vector>

#include "kernels.hpp"

namespace gg {

/// The true items of one query and what a list earns with them. `worth` is the true rank turned so that
/// larger is better.
class GainLoss {
 public:
  /// `worths`: of all true items, in any order. `inverted`: whether they are turned ranks. `max_rank`: the
  /// largest true rank as it was given.
  GainLoss(std::vector<double> worths, const Spec& spec, bool inverted, double max_rank);

  /// What an item of this worth earns at a position from 1.
  double earned(double worth, uint32_t position) const;
  /// What a false positive costs there; `last` is the worth of the last true item above it.
  double false_positive(uint32_t position, double last) const;
  double false_negative(double worth) const;
  /// The `last` before any true item was seen.
  static constexpr double start = 1;
  /// The score of the perfect list.
  double perfect() const { return perfect_; }
  bool costs_depend_on_last() const { return spec_.reference && !spec_.punish_max; }

 private:
  double place(uint32_t position) const;          // the documented form's a
  double documented_gain(double worth, double a) const;
  double reference_assumed(uint32_t position, bool inverted) const;

  Spec spec_;
  bool inverted_;
  std::vector<double> sorted_;     // worths, best first
  std::vector<uint32_t> group_;    // beside it, from 1 at the best
  double max_rank_;
  double max_gain_ = 0;
  double perfect_ = 0;
};

/// The list form: `list[i]` is the worth of the item at a position, NaN for a false positive;
/// `missing` are the worths of true items found nowhere.
double gain_loss(std::span<const double> list, std::span<const double> missing, std::vector<double> worths,
                 const Spec& spec, bool inverted, double max_rank, bool normalise);

}  // namespace gg
