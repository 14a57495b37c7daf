#pragma once

#include <type_traits>

#include "core/tensor/matmul.h"

namespace dark {

/// Whether products of Operands::kBf16 are instructions of the processor. If not, operands are rounded as
/// they are packed for the kernel of float, and no function declared here exists.
#if defined(__AVX512BF16__)
inline constexpr bool kBf16Instructions = true;
#else
inline constexpr bool kBf16Instructions = false;
#endif
template <class T>
inline constexpr bool kOwnBf16 = std::is_same_v<T, float>&& kBf16Instructions;

/// Rows or columns of C that a cut should keep together.
inline constexpr Index kBf16Unit = 32;

/// Gemm of matmul.h with operands in bfloat16. Sums are of float: an element is one chain that begins with
/// beta·C and takes the products in the order of k, 32 or two at a time (docs/numerics.md). Its bits depend
/// on nothing else. Subnormal operands count as zero. k > 0.
void Bf16Gemm(Op op_a, Op op_b, Index m, Index n, Index k, const OperandView<float>& a,
              const OperandView<float>& b, float beta, float* c, Index ldc);
void Bf16Gemm(Op op_a, Index m, Index n, Index k, const OperandView<float>& a, const PackedB<float>& b,
              float beta, float* c, Index ldc);
/// PackedSize and PackColumns of matmul.h.
Index Bf16PackedSize(Index n, Index k);
void Bf16PackColumns(Op op_b, Index begin, Index end, const OperandView<float>& b,
                     const PackedB<float>& packed);

}  // namespace dark
