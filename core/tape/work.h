#pragma once

#include "core/tensor/matmul.h"

namespace dark {

/// What an op cannot do without, however it is computed: the denominators of "percent of peak".
struct Work {
  double flops = 0;  ///< of matrix products (multiply and add are two); elementwise arithmetic is not counted
  double bytes = 0;  ///< memory moved when every operand is read once and every result written once
  double bf16_flops = 0;   ///< of the flops, those of products with operands in bf16
  double split_flops = 0;  ///< and those of products by Operands::kSplit

  Work& operator+=(const Work& other) {
    flops += other.flops;
    bytes += other.bytes;
    bf16_flops += other.bf16_flops;
    split_flops += other.split_flops;
    return *this;
  }
};

inline Work operator+(Work a, const Work& b) { return a += b; }

/// `flops` of products that move `bytes`.
inline Work ProductsWork(double flops, double bytes, Operands operands) {
  return {flops, bytes, operands == Operands::kBf16 ? flops : 0, operands == Operands::kSplit ? flops : 0};
}
/// C[m×n] = A[m×k]·B[k×n] of values of `size` bytes.
inline Work ProductWork(Index m, Index n, Index k, std::size_t size, Operands operands) {
  const auto rows = static_cast<double>(m), cols = static_cast<double>(n), depth = static_cast<double>(k);
  return ProductsWork(2 * rows * cols * depth,
                      static_cast<double>(size) * (rows * depth + depth * cols + rows * cols), operands);
}
/// The same by ParallelGemm.
inline Work ParallelWork(Index m, Index n, Index k, std::size_t size, Operands operands) {
  return ProductWork(m, n, k, size, SplitIfLarge(operands, m, n));
}

/// `streams` arrays of `count` values of `size` bytes, read or written.
inline Work StreamWork(double streams, Index count, std::size_t size) {
  return {0, streams * static_cast<double>(count) * static_cast<double>(size)};
}

/// What a backward pass does at least after a forward of products: two products for each.
inline Work BackwardWork(const Work& forward, Operands operands) {
  return ProductsWork(2 * forward.flops, 2 * forward.bytes, operands);
}

/// One op of the tape and the time it has taken since Tape::ClearTimes.
struct OpProfile {
  const char* kind;  ///< "linear", "softmax_attention", …
  Work forward_work, backward_work;
  double forward_seconds = 0, backward_seconds = 0;
};

}  // namespace dark
