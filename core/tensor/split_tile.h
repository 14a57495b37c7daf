#pragma once

#if defined(__AVX512BF16__)

#include "core/tensor/bf16_layout.h"

namespace dark {

/// 16 × 16 floats at x, of which `rows` rows and `cols` columns are given, then zeros.
inline void LoadFloats(Index rows, Index cols, const float* x, Index ldx, __m512i (&out)[16]) {
  const auto given = static_cast<__mmask16>(LaneMask<16>(cols));
#pragma GCC unroll 16
  for (Index i = 0; i < 16; ++i)
    out[i] =
        i < rows ? _mm512_castps_si512(_mm512_maskz_loadu_ps(given, x + i * ldx)) : _mm512_setzero_si512();
}

/// 16 floats as the sums of three bfloat16 each, largest first, in the upper halves of words: a term is what
/// the ones before leave, to nearest, ties away from zero, and three of 8 bits hold the 24 of a float. A NaN
/// has a term that is NaN, an infinity too.
struct SplitFloats {
  __m512i terms[3];

  explicit SplitFloats(__m512 x) {
    const __m512i half = _mm512_set1_epi32(0x8000), upper = _mm512_set1_epi32(static_cast<int>(0xffff0000));
    for (int term = 0; term < 2; ++term) {
      terms[term] = _mm512_and_si512(_mm512_add_epi32(_mm512_castps_si512(x), half), upper);
      x -= _mm512_castsi512_ps(terms[term]);
    }
    terms[2] = _mm512_castps_si512(x);  // its lower halves are no part of the sum: they are zeros
  }
};

/// Element i of `low` and element i of `high` become word i of each term.
inline void StoreWords(const SplitFloats& low, const SplitFloats& high, Bf16* to) {
  const __m512i halves =
      _mm512_set4_epi32(0x0f0e0f0e, 0x0b0a0b0a, 0x07060706, 0x03020302);  // upper ones, twice
  // The upper half of each word of `high`, and of `low` in place of the lower one: a shift and a mask in one.
#pragma GCC unroll 3
  for (int term = 0; term < 3; ++term)
    _mm512_storeu_si512(to + term * kBf16Term, _mm512_mask_shuffle_epi8(high.terms[term], 0x3333333333333333,
                                                                        low.terms[term], halves));
}

/// A tile of each of three terms. What is read in the order of the other operand's tiles is transposed.
template <bool kLeft, bool kByRows>
void PackSplitTiles(Index count, Index products, const float* x, Index ldx, Bf16* out) {
  __m512i low[16], high[16];
  if constexpr (kByRows) {
    LoadFloats(count, products, x, ldx, low);
    LoadFloats(count, products - 16, x + 16, ldx, high);
  } else {
    LoadFloats(products, count, x, ldx, low);
    LoadFloats(products - 16, count, x + 16 * ldx, ldx, high);
  }
  if constexpr (kLeft != kByRows) {
    TransposeWords(low);
    TransposeWords(high);
  }
#pragma GCC unroll 16
  for (Index r = 0; r < 16; ++r)
    StoreWords(SplitFloats(_mm512_castsi512_ps(low[r])), SplitFloats(_mm512_castsi512_ps(high[r])),
               out + r * 32);
}

}  // namespace dark

#endif
