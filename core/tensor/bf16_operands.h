#pragma once

#if defined(__AVX512BF16__)

#include "core/tensor/bf16_pack.h"

namespace dark {

/// The left operand of a product, packed by parts.
template <int kTerms>
struct Bf16Left {
  Op op;
  OperandView<float> a;

  /// Rows [row, row + rows) and products [from, from + depth) of op(A).
  void Pack(Index row, Index rows, Index from, Index depth, Bf16* out) const {
    const OperandView<float> part = a.At(op, row, from);
    if (op == Op::kNone) return PackBf16<kTerms, true, true>(rows, depth, part, out);
    PackBf16<kTerms, true, false>(rows, depth, part, out);
  }
};

/// Columns [col, col + cols) and products [from, from + depth) of op(B).
template <int kTerms>
void PackBf16Right(Op op, const OperandView<float>& b, Index col, Index cols, Index from, Index depth,
                   Bf16* out) {
  const OperandView<float> part = b.At(op, from, col);
  if (op == Op::kTranspose) return PackBf16<kTerms, false, true>(cols, depth, part, out);
  PackBf16<kTerms, false, false>(cols, depth, part, out);
}

/// The first `rest` products of one group of each panel of `cols` columns; zeros in place of the others,
/// which A's zeros would meet, and 0·∞ is NaN.
template <int kTerms>
void CopyRest(const Bf16Packed<kTerms>& b, Index col, Index cols, Index from, Index rest, Bf16* to) {
  for (Index j = 0; j < cols; j += kBf16Panel) {
    const Bf16* group = b.At(col + j, from);
    for (Index t = 0; t < kBf16GroupSize<kTerms>; ++t)
      *to++ = PlaceInPair<kTerms>(t % kBf16Tile / 32, t % 2) < rest ? group[t] : Bf16{0};
  }
}

}  // namespace dark

#endif
