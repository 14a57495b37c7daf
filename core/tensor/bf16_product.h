#pragma once

#if defined(__AVX512BF16__)

#include <algorithm>

#include "core/tensor/arena.h"
#include "core/tensor/bf16_blocks.h"
#include "core/tensor/bf16_operands.h"
#include "core/tensor/round_up.h"

namespace dark {

/// Elements of B in a block: it, the rows of C that meet it and a block of A stay in the second-level cache.
template <int kTerms>
inline constexpr Index kBf16Block = 640 * 1024 / kTerms;
/// Most products of a pass. Passes so short that a panel of A stays in the first level read and write C more
/// often, and were slower.
template <int kTerms>
inline constexpr Index kBf16Deep = kTerms == 1 ? 1024 : 384;
inline constexpr Index kBf16RowsTransposed = 128;  ///< of a transposed A, whole cache lines are read

inline Index WholePanels(Index count) { return count / kBf16Panel * kBf16Panel; }

/// Equal parts of at most `most`, in whole panels (and groups).
inline Index PartSize(Index total, Index most) {
  const Index parts = (total + most - 1) / most;
  return RoundUp((total + parts - 1) / parts, kBf16Panel);
}

/// Packing memory of one thread, taken at its first product.
struct Bf16Memory {
  float *a = nullptr, *b = nullptr;
  Arena<float> arena;
  Bf16Memory() {
    arena.Plan(&a, kBf16RowsTransposed * std::max(kBf16Deep<1>, 3 * kBf16Deep<3>) / 2);
    arena.Plan(&b, kBf16Block<1> / 2);
    arena.Allocate();
  }
  Bf16* A() const { return reinterpret_cast<Bf16*>(a); }
  Bf16* B() const { return reinterpret_cast<Bf16*>(b); }
};

inline Bf16Memory& ThreadBf16Memory() {
  thread_local Bf16Memory memory;
  return memory;
}

/// C[m×n] = A·B + beta·C, of which `causal` says what is left out.
template <int kTerms>
struct Bf16Product {
  Index m, n, k;
  Bf16Left<kTerms> left;
  float* c;
  Index ldc;
  float beta;
  Causal causal;

  /// Products among [from, from + depth) in which rows [row, row + rows) take part, in whole groups.
  Causal::Range Groups(Index row, Index rows, Index from, Index depth) const {
    const auto [begin, end] = causal.Products(left.op == Op::kTranspose, row, row + rows, k);
    const Index first = std::clamp<Index>(begin - from, 0, depth) / kBf16Group;
    return {first, std::max(first, Bf16Groups(std::clamp<Index>(end - from, 0, depth)))};
  }

  /// Columns [col, col + cols) of C, products [from, from + depth): `b` is that block of B.
  void Block(Bf16Blocks<kTerms>& blocks, Index col, Index cols, Index from, Index depth,
             const Bf16Packed<kTerms>& b) const {
    Bf16* packed = ThreadBf16Memory().A();
    const Index row_block = left.op == Op::kNone ? kBf16Panel : kBf16RowsTransposed;
    for (Index row = 0; row < m; row += row_block) {
      const Index rows = std::min(row_block, m - row);
      const auto [first, last] = Groups(row, rows, from, depth);
      const Index skipped = first * kBf16Group;
      if (last > first)
        left.Pack(row, rows, from + skipped, std::min(depth, last * kBf16Group) - skipped, packed);
      for (Index i = row; i < row + rows; i += kBf16Panel) {
        const Index panel_rows = std::min(kBf16Panel, m - i);
        const auto [begin, end] = Groups(i, panel_rows, from, depth);
        const Bf16* a = Bf16Packed<kTerms>{packed, last - first}.At(i - row, begin * kBf16Group - skipped);
        const float pass_beta = from == 0 ? beta : 1;
        if (begin == end && pass_beta == 1) continue;
        const Index seen = std::min(cols, causal.Columns(i + panel_rows, n) - col);
        for (Index j = 0; j < seen; j += kBf16Panel)
          blocks.Multiply(
              end - begin, a, b.At(j, begin * kBf16Group),
              {c + i * ldc + col + j, ldc, panel_rows, std::min(kBf16Panel, cols - j), pass_beta});
      }
    }
  }

  /// Products of a pass. With three terms passes are part of the result, and must follow from k alone. With
  /// one they are as deep as the columns of B allow, but not so shallow that C is read and written for little
  /// work.
  Index Depth() const {
    constexpr Index kShallow = 768;
    if constexpr (kTerms > 1) return PartSize(k, kBf16Deep<kTerms>);
    return PartSize(k,
                    std::clamp(WholePanels(kBf16Block<1> / RoundUp(n, kBf16Panel)), kShallow, kBf16Deep<1>));
  }

  /// `right(col, cols, from, depth)` is the part of B, packed.
  template <class Right>
  void Run(const Right& right) const {
    Bf16Blocks<kTerms> blocks;
    const Index deep = Depth(), wide = PartSize(n, WholePanels(kBf16Block<kTerms> / deep));
    for (Index col = 0; col < n; col += wide) {
      const Index cols = std::min(wide, n - col);
      for (Index from = 0; from < k; from += deep) {
        const Index depth = std::min(deep, k - from);
        Block(blocks, col, cols, from, depth, right(col, cols, from, depth));
      }
    }
  }
};

}  // namespace dark

#endif
