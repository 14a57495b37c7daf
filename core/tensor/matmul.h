#pragma once

#include <cstdint>

#include "core/setting.h"
#include "core/tensor/causal.h"

namespace dark {

enum class Op { kNone, kTranspose };

/// How a product reads A and B.
///   kFull   as they are.
///   kSplit  as they are, too: where the processor has matrix tiles, each float as the sum of three bfloat16,
///           at about half the error of a chain of multiply-adds, or the same (docs/numerics.md).
///   kBf16   rounded to bfloat16, as if they had been rounded in memory.
/// Sums are of T as ever, in an order of their own where they are made of products of bfloat16
/// (core/tensor/bf16_matmul.h). Only float has other operands than kFull: in double all are the same.
enum class Operands { kFull, kSplit, kBf16 };

/// kSplit in place of kFull for a product so large that splitting its operands pays (docs/performance.md):
/// an element of A meets n others, one of B m. To be asked of a whole product and not of a part of it, whose
/// bits would then depend on the cut.
inline Operands SplitIfLarge(Operands operands, Index m, Index n) {
  constexpr Index kFewest = 64;
  return operands == Operands::kFull && m * n >= kFewest * (m + n) ? Operands::kSplit : operands;
}

/// A bfloat16 in memory.
using Bf16 = std::uint16_t;

/// A row-major matrix that a product reads. Where the processor has instructions for products in bfloat16
/// (kOwnBf16, core/tensor/bf16_matmul.h), it may be of such values already.
template <class T>
struct OperandView {
  const T* full;
  Index stride;                   ///< elements from row to row
  const Bf16* rounded = nullptr;  ///< in place of `full`

  /// What begins at row i and column j of op(this).
  OperandView At(Op op, Index i, Index j) const {
    const Index offset = op == Op::kTranspose ? j * stride + i : i * stride + j;
    if (rounded != nullptr) return {nullptr, stride, rounded + offset};
    return {full + offset, stride};
  }
};

/// C[m×n] = op(A)[m×k] · op(B)[k×n] + beta · C on one thread. Each element of C is one chain of fused
/// multiply-adds over k (or of products of bfloat16), cut into equal passes by k alone: its bits do not
/// depend on the shape, the place or the neighbours of the tile in which it is computed.
template <class T>
void Gemm(Op op_a, Op op_b, Index m, Index n, Index k, const OperandView<T>& a, const OperandView<T>& b,
          T beta, T* c, Index ldc, Operands operands = Operands::kFull, Causal causal = {});

/// A right operand op(B) [k×n] that many products share, in the order in which the kernel reads it. `data`
/// holds PackedSize elements, aligned to a cache line.
template <class T>
struct PackedB {
  T* data = nullptr;
  Index n = 0, k = 0;
  Operands operands = Operands::kFull;  ///< of the products that read it
};
template <class T>
Index PackedSize(Index n, Index k);
/// Columns that stand together in a packed operand, whatever its type and operands.
inline constexpr Index kPackedUnit = 64;
/// Packs the columns [begin, end) of op(B), with begin a multiple of kPackedUnit; parts may be packed at
/// once.
template <class T>
void PackColumns(Op op_b, Index begin, Index end, const OperandView<T>& b, const PackedB<T>& packed);
template <class T>
void Pack(Op op_b, const OperandView<T>& b, const PackedB<T>& packed) {
  PackColumns(op_b, 0, packed.n, b, packed);
}
/// Gemm with the first k rows and n columns of a packed operand; with all its rows the bits are those of
/// Gemm.
template <class T>
void Gemm(Op op_a, Index m, Index n, Index k, const OperandView<T>& a, const PackedB<T>& b, T beta, T* c,
          Index ldc, Causal causal = {});

/// Gemm on the whole team, of SplitIfLarge(operands), cut across the longer side of C. Cut by rows, the team
/// packs B together unless it is very large.
template <class T>
void ParallelGemm(Op op_a, Op op_b, Index m, Index n, Index k, const OperandView<T>& a,
                  const OperandView<T>& b, T beta, T* c, Index ldc, Operands operands = Operands::kFull);

}  // namespace dark
