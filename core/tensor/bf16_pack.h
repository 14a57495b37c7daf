#pragma once

#if defined(__AVX512BF16__)

#include "core/tensor/rounded_tile.h"
#include "core/tensor/split_tile.h"

namespace dark {

/// Panels of a left (`kLeft`) or right operand. `kByRows`: x[i·ldx + p] is product p of row (column) i, else
/// x[p·ldx + i].
template <int kTerms, bool kLeft, bool kByRows, class E>
void PackBf16(Index count, Index depth, const E* x, Index ldx, Bf16* out) {
  const Index tiles = 2 * Bf16Panels(count), groups = Bf16Groups(depth);
  const auto pack = [&](Index t, Index g) {
    const Index i = t * 16, p = g * kBf16Group, given = std::max<Index>(0, count - i);
    const E* from = kByRows ? x + std::min(i, count - 1) * ldx + p : x + p * ldx + i;
    Bf16* to = TileRow(Bf16Packed<kTerms>{out, groups}.At(i, p), t % 2, 0);
    if constexpr (kTerms == 1) {
      PackRoundedTile<kLeft, kByRows>(given, depth - p, from, ldx, to);
    } else {
      PackSplitTiles<kLeft, kByRows>(given, depth - p, from, ldx, to);
    }
  };
  // Along the rows of memory, so that the processor sees what comes next.
  if constexpr (kByRows) {
    for (Index t = 0; t < tiles; ++t)
      for (Index g = 0; g < groups; ++g) pack(t, g);
  } else {
    for (Index g = 0; g < groups; ++g)
      for (Index t = 0; t < tiles; ++t) pack(t, g);
  }
}

template <int kTerms, bool kLeft, bool kByRows>
void PackBf16(Index count, Index depth, const OperandView<float>& x, Bf16* out) {
  if constexpr (kTerms == 1) {
    if (x.rounded != nullptr) return PackBf16<1, kLeft, kByRows>(count, depth, x.rounded, x.stride, out);
  }
  PackBf16<kTerms, kLeft, kByRows>(count, depth, x.full, x.stride, out);
}

}  // namespace dark

#endif
