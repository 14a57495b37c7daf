#include "core/tensor/matmul.h"

#include <algorithm>

#include "core/tensor/arena.h"
#include "core/tensor/bf16_matmul.h"
#include "core/tensor/gemm_block.h"
#include "core/tensor/gemm_pack.h"
#include "core/tensor/round_up.h"

namespace dark {
namespace {

// Blocks that stay in a core's caches: a tile's rows of A (× kDepth) in the first level, a block of B (kDepth
// × kColBlock) in the second, which is larger where there is AVX-512. kRowBlock is how much of A is packed at
// a time: whole tiles of each height.
constexpr Index kDepth = 384, kRowBlock = 252, kColBlock = kSimdBytes == 64 ? 512 : 256;
// Up to this many rows, B is read where it stands: with its rows apart, or one after the other.
constexpr Index kFewRows = kSimdBytes == 64 ? 56 : 24, kFewDenseRows = 120;
// Up to this many columns, Aᵀ is read where it stands.
template <class T>
constexpr Index kFewCols = 12 * kLanes<T>;

static_assert(kPackedUnit % kKernelCols<float> == 0 && kPackedUnit % kKernelCols<double> == 0 &&
              kPackedUnit % kBf16Unit == 0);

/// Packing memory of one thread, taken at its first product.
template <class T>
struct PackMemory {
  T *a = nullptr, *b = nullptr;
  Arena<T> arena;
  PackMemory() {
    arena.Plan(&a, kRowBlock * kDepth);
    arena.Plan(&b, kColBlock * kDepth);
    arena.Allocate();
  }
};

template <class T>
void MultiplyRows(const Product<T>& x, const Block<T>& block, PackMemory<T>& memory) {
  const T* a = x.a.At(x.op_a, block.row, block.from).full;
  const Index lda = x.a.stride;
  const bool in_place = x.operands != Operands::kBf16;
  if (in_place && x.op_a == Op::kNone) {
    MultiplyBlock<T, Layout::kRows>(x, block, {a, lda});
  } else if (in_place && block.cols <= kFewCols<T>) {
    MultiplyBlock<T, Layout::kColumns>(x, block, {a, lda});
  } else {
    PackPanels<T, kKernelRows, kKernelRows>(x.op_a == Op::kTranspose, block.rows, block.depth, a, lda,
                                            x.operands, memory.a);
    MultiplyBlock<T, Layout::kPacked>(x, block, {memory.a, block.depth});
  }
}

/// The products of one pass: equal passes, so that how C rounds depends on k alone.
Index PassDepth(Index k) {
  const Index passes = (k + kDepth - 1) / kDepth;
  return (k + passes - 1) / passes;
}

/// `packed`, if any, is the right operand; else b is read where it stands or packed block by block.
template <class T>
void Multiply(const Product<T>& x, const PackedB<T>* packed) {
  thread_local PackMemory<T> memory;
  const Index whole = packed != nullptr ? packed->k : x.k, depth = PassDepth(whole);
  const bool b_in_place = x.operands != Operands::kBf16 && x.op_b == Op::kNone && x.n % kLanes<T> == 0 &&
                          x.m <= (x.b.stride == x.n ? kFewDenseRows : kFewRows);
  for (Index col = 0; col < x.n; col += kColBlock) {
    for (Index from = 0; from < x.k; from += depth) {
      Block<T> block{0, 0, col, std::min(kColBlock, x.n - col), from, std::min(depth, x.k - from), T(1), {}};
      if (from == 0) block.beta = x.beta;
      if (packed != nullptr) {
        const Index pass = std::min(depth, whole - from);
        const T* const data = packed->data + from * RoundUp(packed->n, kLanes<T>) + col * pass;
        block.right = {data, 0, packed->n - col, pass};
      } else if (b_in_place) {
        block.right = {x.b.At(x.op_b, from, col).full, x.b.stride};
      } else {
        PackPanels<T, kKernelCols<T>, kLanes<T>>(x.op_b == Op::kNone, block.cols, block.depth,
                                                 x.b.At(x.op_b, from, col).full, x.b.stride, x.operands,
                                                 memory.b);
        block.right = {memory.b, 0, block.cols, block.depth};
      }
      for (block.row = 0; block.row < x.m; block.row += kRowBlock) {
        block.rows = std::min(kRowBlock, x.m - block.row);
        MultiplyRows(x, block, memory);
      }
    }
  }
}

template <class T>
void ScaleRows(Index m, Index n, T beta, T* c, Index ldc) {
  for (Index i = 0; i < m; ++i) {
    T* row = c + i * ldc;
    if (beta == T(0)) {
      std::fill(row, row + n, T(0));
    } else if (beta != T(1)) {
      for (Index j = 0; j < n; ++j) row[j] *= beta;
    }
  }
}

}  // namespace

template <class T>
void Gemm(Op op_a, Op op_b, Index m, Index n, Index k, const OperandView<T>& a, const OperandView<T>& b,
          T beta, T* c, Index ldc, Operands operands, Causal causal) {
  if (k == 0) return ScaleRows(m, n, beta, c, ldc);
  if constexpr (kOwnBf16<T>) {
    if (Bf16Terms(operands) > 0) return Bf16Gemm(op_a, op_b, m, n, k, a, b, beta, c, ldc, operands, causal);
  }
  Multiply<T>({op_a, op_b, m, n, k, a, b, beta, c, ldc, operands, causal}, nullptr);
}
template void Gemm(Op, Op, Index, Index, Index, const OperandView<float>&, const OperandView<float>&, float,
                   float*, Index, Operands, Causal);
template void Gemm(Op, Op, Index, Index, Index, const OperandView<double>&, const OperandView<double>&,
                   double, double*, Index, Operands, Causal);

template <class T>
Index PackedSize(Index n, Index k) {
  const Index full = RoundUp(n, kLanes<T>) * k;
  if constexpr (kOwnBf16<T>) return std::max(full, Bf16PackedSize(n, k));
  return full;
}
template Index PackedSize<float>(Index, Index);
template Index PackedSize<double>(Index, Index);

template <class T>
void PackColumns(Op op_b, Index begin, Index end, const OperandView<T>& b, const PackedB<T>& packed) {
  if constexpr (kOwnBf16<T>) {
    if (Bf16Terms(packed.operands) > 0) return Bf16PackColumns(op_b, begin, end, b, packed);
  }
  const Index pass = PassDepth(packed.k);
  for (Index from = 0; from < packed.k; from += pass) {
    const Index depth = std::min(pass, packed.k - from);
    const OperandView<T> part = b.At(op_b, from, begin);
    PackPanels<T, kKernelCols<T>, kLanes<T>>(
        op_b == Op::kNone, end - begin, depth, part.full, part.stride, packed.operands,
        packed.data + from * RoundUp(packed.n, kLanes<T>) + begin * depth);
  }
}
template void PackColumns(Op, Index, Index, const OperandView<float>&, const PackedB<float>&);
template void PackColumns(Op, Index, Index, const OperandView<double>&, const PackedB<double>&);

template <class T>
void Gemm(Op op_a, Index m, Index n, Index k, const OperandView<T>& a, const PackedB<T>& b, T beta, T* c,
          Index ldc, Causal causal) {
  if constexpr (kOwnBf16<T>) {
    if (Bf16Terms(b.operands) > 0) return Bf16Gemm(op_a, m, n, k, a, b, beta, c, ldc, causal);
  }
  Multiply<T>({op_a, Op::kNone, m, n, k, a, {}, beta, c, ldc, b.operands, causal}, &b);
}
template void Gemm(Op, Index, Index, Index, const OperandView<float>&, const PackedB<float>&, float, float*,
                   Index, Causal);
template void Gemm(Op, Index, Index, Index, const OperandView<double>&, const PackedB<double>&, double,
                   double*, Index, Causal);

}  // namespace dark
