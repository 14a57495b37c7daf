#pragma once

#include <type_traits>

#include "core/tensor/matmul.h"
#include "core/tensor/matrix_tiles.h"

namespace dark {

/// Whether the processor multiplies bfloat16. If not, operands of Operands::kBf16 are rounded as they are
/// packed for the kernel of float, those of kSplit are not split, and no product of this page exists.
#if defined(__AVX512BF16__)
inline constexpr bool kBf16Instructions = true;
#else
inline constexpr bool kBf16Instructions = false;
#endif
template <class T>
inline constexpr bool kOwnBf16 = std::is_same_v<T, float>&& kBf16Instructions;

/// Rows or columns of C that a cut should keep together.
inline constexpr Index kBf16Unit = 32;

/// How many bfloat16 stand for an element of float operands: one, to which it is rounded, or three, whose sum
/// it is. 0: the product is not made of products of bfloat16.
///
/// Three: x = x₀ + x₁ + x₂ exactly, and of the nine products xᵢyⱼ of two elements the six with i + j ≤ 2 are
/// summed (Henry, Tang and Heinecke 2019, "Leveraging the bfloat16 artificial intelligence datatype for
/// higher-precision computations"). Matrix tiles do six such products in less than half the time of one
/// multiply-add of float. What is left out is at most 2^-23 |xy|, mostly a tenth of that.
inline int Bf16Terms(Operands operands) {
  if (operands == Operands::kBf16) return kBf16Instructions ? 1 : 0;
  return operands == Operands::kSplit && kBf16Instructions && MayUseTiles() ? 3 : 0;
}

/// Gemm of matmul.h by products of bfloat16, with Bf16Terms(operands) > 0. Sums are of float, in the order of
/// k, 32 or two products at a time (docs/numerics.md). Rounded operands: an element is one chain that begins
/// with beta·C. Split ones: equal passes by k alone, each a chain that begins with zero, and C = beta·C +
/// sum. Its bits depend on nothing else. Subnormal terms count as zero. k > 0.
void Bf16Gemm(Op op_a, Op op_b, Index m, Index n, Index k, const OperandView<float>& a,
              const OperandView<float>& b, float beta, float* c, Index ldc, Operands operands, Causal causal);
void Bf16Gemm(Op op_a, Index m, Index n, Index k, const OperandView<float>& a, const PackedB<float>& b,
              float beta, float* c, Index ldc, Causal causal);
/// PackedSize and PackColumns of matmul.h.
Index Bf16PackedSize(Index n, Index k);
void Bf16PackColumns(Op op_b, Index begin, Index end, const OperandView<float>& b,
                     const PackedB<float>& packed);

}  // namespace dark
