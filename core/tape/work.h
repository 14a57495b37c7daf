#pragma once

#include "core/tensor/matmul.h"

namespace dark {

/// What an op cannot do without, however it is computed: the denominators of "percent of peak".
struct Work {
  double flops = 0;  ///< of matrix products (multiply and add are two); elementwise arithmetic is not counted
  double bytes = 0;  ///< memory moved when every operand is read once and every result written once

  Work& operator+=(const Work& other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
};

inline Work operator*(double factor, const Work& work) { return {factor * work.flops, factor * work.bytes}; }
inline Work operator+(Work a, const Work& b) { return a += b; }

/// C[m×n] = A[m×k]·B[k×n] of values of `size` bytes.
inline Work ProductWork(Index m, Index n, Index k, std::size_t size) {
  const auto rows = static_cast<double>(m), cols = static_cast<double>(n), depth = static_cast<double>(k);
  return {2 * rows * cols * depth, static_cast<double>(size) * (rows * depth + depth * cols + rows * cols)};
}

/// `streams` arrays of `count` values of `size` bytes, read or written.
inline Work StreamWork(double streams, Index count, std::size_t size) {
  return {0, streams * static_cast<double>(count) * static_cast<double>(size)};
}

/// What a backward pass does at least after a forward of products: two products for each, the same operands.
inline Work BackwardWork(const Work& forward) { return 2 * forward; }

/// One op of the tape and the time it has taken since Tape::ClearTimes.
struct OpProfile {
  const char* kind;  ///< "linear", "softmax_attention", …
  Work forward_work, backward_work;
  Operands operands = Operands::kFull;  ///< of its products
  double forward_seconds = 0, backward_seconds = 0;
};

}  // namespace dark
