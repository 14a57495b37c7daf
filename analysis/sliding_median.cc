#include "analysis/sliding_median.h"

#include <algorithm>

namespace dark::analysis {

void SlidingMedian::Push(double x) {
  if (full()) {
    sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), arrival_[oldest_]));
    arrival_[oldest_] = x;
    oldest_ = (oldest_ + 1) % window_;
  } else {
    arrival_.push_back(x);
  }
  sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), x), x);
}

double SlidingMedian::Median() const {
  const std::size_t n = sorted_.size();
  return (sorted_[(n - 1) / 2] + sorted_[n / 2]) / 2;
}

double SlidingMedian::Mad() const {
  const double center = Median();
  const std::size_t n = sorted_.size();
  return (Deviation(center, (n - 1) / 2) + Deviation(center, n / 2)) / 2;
}

// The rank+1 values nearest to the centre are neighbours in sorted order, so the sought deviation is the
// larger one at the two ends of that stretch, and the stretch is found by bisection of its start.
double SlidingMedian::Deviation(double center, std::size_t rank) const {
  std::size_t low = 0, high = sorted_.size() - 1 - rank;
  while (low < high) {
    const std::size_t start = (low + high) / 2;
    if (center - sorted_[start] > sorted_[start + rank + 1] - center)
      low = start + 1;
    else
      high = start;
  }
  return std::max(center - sorted_[low], sorted_[low + rank] - center);
}

}  // namespace dark::analysis
