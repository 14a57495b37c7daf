#pragma once

#include <cstddef>
#include <vector>

namespace dark::analysis {

/// Median and median absolute deviation of the last `window` values pushed. A push moves O(window) bytes
/// (a kilobyte for the usual 128), `Median` is O(1) and `Mad` O(log window).
class SlidingMedian {
 public:
  explicit SlidingMedian(std::size_t window) : window_(window) {}

  /// `x` must not be NaN.
  void Push(double x);
  bool full() const { return sorted_.size() == window_; }
  /// Of an even count the mean of the middle two. At least one value must have been pushed.
  double Median() const;
  /// median |x − Median()|, by the same rule for even counts.
  double Mad() const;

 private:
  double Deviation(double center, std::size_t rank) const;

  std::size_t window_;
  std::size_t oldest_ = 0;
  std::vector<double> arrival_;  // ring of the window in order of arrival
  std::vector<double> sorted_;
};

}  // namespace dark::analysis
