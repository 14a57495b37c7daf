#pragma once

#if defined(__AVX512BF16__)

#include "core/tensor/bf16.h"
#include "core/tensor/bf16_layout.h"

namespace dark {

/// The first `count` of 32 elements, then zeros.
inline __m512i Load32(const float* x, Index count) {
  const auto low = static_cast<__mmask16>(LaneMask<16>(count)),
             high = static_cast<__mmask16>(LaneMask<16>(count - 16));
  return ToBf16(_mm512_maskz_loadu_ps(low, x), _mm512_maskz_loadu_ps(high, x + 16));
}
inline __m512i Load32(const Bf16* x, Index count) { return _mm512_maskz_loadu_epi16(LaneMask<32>(count), x); }

/// The first `count` of 16 elements of x and of y, either nullptr for zeros.
inline __m512i Load16And16(const float* x, const float* y, Index count) {
  const auto given = static_cast<__mmask16>(LaneMask<16>(count));
  const auto load = [&](const float* from) {
    return from == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(given, from);
  };
  return ToBf16(load(x), load(y));
}
inline __m512i Load16And16(const Bf16* x, const Bf16* y, Index count) {
  const auto given = static_cast<__mmask16>(LaneMask<16>(count));
  const auto load = [&](const Bf16* from) {
    return from == nullptr ? _mm256_setzero_si256() : _mm256_maskz_loadu_epi16(given, from);
  };
  return _mm512_inserti64x4(_mm512_castsi256_si512(load(x)), load(y), 1);
}

/// Of 16 + 16 elements, pairs of one of each.
inline __m512i Interleave(__m512i x) {
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7,
                                         22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(order, x);
}

/// tile[i] = x[i·ldx …] of 32 products, for i < rows.
template <class E>
void LoadRows(Index rows, Index products, const E* x, Index ldx, __m512i (&tile)[16]) {
#pragma GCC unroll 16
  for (Index i = 0; i < 16; ++i) tile[i] = i < rows ? Load32(x + i * ldx, products) : _mm512_setzero_si512();
}

/// tile[r] = pairs (x[2r·ldx + j], x[(2r + 1)·ldx + j]) for 16 columns j, of which `columns` are given.
template <class E>
void LoadPairs(Index columns, Index products, const E* x, Index ldx, __m512i (&tile)[16]) {
  const auto row = [&](Index p) { return p < products ? x + p * ldx : nullptr; };
#pragma GCC unroll 16
  for (Index r = 0; r < 16; ++r) tile[r] = Interleave(Load16And16(row(2 * r), row(2 * r + 1), columns));
}

/// A tile of one term, of floats or of what they round to. What is read in the order of the other operand's
/// tiles is transposed.
template <bool kLeft, bool kByRows, class E>
void PackRoundedTile(Index count, Index products, const E* x, Index ldx, Bf16* out) {
  __m512i tile[16];
  if constexpr (kByRows) {
    LoadRows(count, products, x, ldx, tile);
  } else {
    LoadPairs(count, products, x, ldx, tile);
  }
  if constexpr (kLeft != kByRows) TransposeWords(tile);
#pragma GCC unroll 16
  for (Index r = 0; r < 16; ++r) _mm512_storeu_si512(out + r * 32, tile[r]);
}

}  // namespace dark

#endif
