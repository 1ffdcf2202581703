// The sum of doubles, rounded once, as Python's math.fsum: the same in any order.
#pragma once
#include <cmath>
#include <utility>
#include <vector>

namespace gg {

class ExactSum {
 public:
  /// Adds a finite number (Shewchuk 1997: partial sums that do not overlap).
  void add(double x) {
    size_t count = 0;
    for (double y : partials_) {
      if (std::fabs(x) < std::fabs(y)) std::swap(x, y);
      const double high = x + y, low = y - (high - x);
      if (low != 0) partials_[count++] = low;
      x = high;
    }
    partials_.resize(count);
    partials_.push_back(x);
  }

  double round() const {
    size_t n = partials_.size();
    if (n == 0) return 0;
    double high = partials_[--n], low = 0;
    while (n > 0 && low == 0) {
      const double x = high, y = partials_[--n];
      high = x + y;
      low = y - (high - x);
    }
    // Half way between two doubles, the next part decides.
    if (n > 0 && ((low < 0 && partials_[n - 1] < 0) || (low > 0 && partials_[n - 1] > 0))) {
      const double twice = low * 2, x = high + twice;
      if (twice == x - high) high = x;
    }
    return high;
  }

 private:
  std::vector<double> partials_;
};

}  // namespace gg
