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

inline void StoreLeftWords(__m512 low, __m512 high, Bf16* to) { _mm512_storeu_si512(to, ToBf16(low, high)); }
inline void StoreLeftWords(const SplitFloats& low, const SplitFloats& high, Bf16* to) {
  StoreWords(low, high, to);
}
inline void StoreRightWords(__m512 first, __m512 second, Bf16* to) {
  _mm512_storeu_si512(to, Interleave(ToBf16(first, second)));
}
inline void StoreRightWords(const SplitFloats& first, const SplitFloats& second, Bf16* to) {
  StoreWords(first, second, to);
}

/// Row i of 32 of a left operand's group: products 0 … 15 and 16 … 31.
template <class Words>
void StoreLeftRow(const Words& low, const Words& high, Bf16* group, Index i) {
  StoreLeftWords(low, high, TileRow(group, i / 16, i % 16));
}
/// A pair of products (PlaceInPair) of a right operand's group, for the first or second 16 columns.
template <class Words>
void StoreRightPair(const Words& first, const Words& second, Bf16* group, Index half, Index pair) {
  StoreRightWords(first, second, TileRow(group, half, pair));
}

}  // namespace dark

#endif
