#pragma once

#include <cstddef>
#include <vector>

namespace dark::analysis {

/// Count, mean and sum of squared deviations of a set of values.
struct Moments {
  std::size_t n = 0;
  double mean = 0;
  double m2 = 0;  ///< Σ (x − mean)²

  static Moments Of(double x) { return {1, x, 0}; }
  /// Population standard deviation, 0 for an empty set.
  double sd() const;
};

/// The moments of the union of two disjoint sets.
Moments Merge(const Moments& a, const Moments& b);

/// Moments of the last `window` values pushed; O(1) amortised a push.
class SlidingMoments {
 public:
  explicit SlidingMoments(std::size_t window) : window_(window) {}

  void Push(double x);
  bool full() const { return older_.size() + newer_.size() == window_; }
  Moments Get() const { return older_.empty() ? newer_sum_ : Merge(older_.back(), newer_sum_); }

 private:
  void Turn();

  // A queue of two stacks. Values are only ever added to a sum, never subtracted from one: subtraction would
  // leave the rounding error of a spike of 1e30 behind for the rest of the run.
  std::size_t window_;
  std::vector<Moments> older_;  // top: sum over all older values; below: without the oldest, …
  std::vector<double> newer_;
  Moments newer_sum_;
};

}  // namespace dark::analysis
