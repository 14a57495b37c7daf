#pragma once

#if defined(__AVX512BF16__)

#include <type_traits>

#include "core/tensor/rounded_tile.h"
#include "core/tensor/split_tile.h"

namespace dark {

/// 16 floats on their way from registers into a packed operand of kTerms terms: to be rounded in pairs, or
/// split.
template <int kTerms>
using Bf16Words = std::conditional_t<kTerms == 1, __m512, SplitFloats>;

/// Row i of 32 of a left operand's group: products 0 … 15 and 16 … 31.
template <class Words>
void StoreLeftRow(const Words& low, const Words& high, Bf16* group, Index i) {
  Bf16* row = TileRow(group, i / 16, i % 16);
  if constexpr (std::is_same_v<Words, SplitFloats>) {
    StoreWords(low, high, row);
  } else {
    _mm512_storeu_si512(row, ToBf16(low, high));
  }
}
/// A pair of products (PlaceInPair) of a right operand's group, for the first or second 16 columns.
template <class Words>
void StoreRightPair(const Words& first, const Words& second, Bf16* group, Index half, Index pair) {
  Bf16* row = TileRow(group, half, pair);
  if constexpr (std::is_same_v<Words, SplitFloats>) {
    StoreWords(first, second, row);
  } else {
    _mm512_storeu_si512(row, Interleave(ToBf16(first, second)));
  }
}

}  // namespace dark

#endif
