#pragma once

#include <cstddef>
#include <vector>

#include "core/setting.h"

namespace dark {

/// Σ (x − y)² in double over each of many arrays: by blocks of a fixed size, then over the blocks in order,
/// so that the sums depend on neither threads nor on what else is summed.
template <class T>
class SquaredSums {
 public:
  /// Plans the sum of an array of `size`; either all arrays have a `y` or none, which counts as 0. Take looks
  /// the pointers up.
  void Add(T* const* x, T* const* y, Index size);
  /// Takes all sums; allocates nothing.
  void Take();
  /// The sum of the array that was added as number `array`.
  double operator[](std::size_t array) const;

 private:
  struct Block {
    T *const *x, *const *y;
    Index begin, size;
    double sum;
  };

  std::vector<Block> blocks_;
  std::vector<std::size_t> ends_;   // of each array's blocks
  std::vector<std::size_t> order_;  // of the blocks by size, longest first
};

}  // namespace dark
