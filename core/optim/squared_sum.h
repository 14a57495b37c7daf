#pragma once

#include <numeric>

#include "core/setting.h"

namespace dark {

/// Σ x² in double over pieces of an array: element i of a piece is added to sum i, then the sums in order. So
/// additions need not wait for each other, and their order depends on the array's size alone.
class SquaredSum {
 public:
  static constexpr Index kPiece = 64;

  /// A piece; all but the last have kPiece elements.
  template <class T>
  void Add(const T* x, Index count) {
    for (Index i = 0; i < count; ++i) {
      const auto value = static_cast<double>(x[i]);
      sums_[i] += value * value;
    }
  }
  double Total() const { return std::accumulate(sums_, sums_ + kPiece, 0.0); }

 private:
  alignas(64) double sums_[kPiece] = {};
};

}  // namespace dark
