#pragma once

#if defined(__AVX512F__)

#include <immintrin.h>

#include <initializer_list>

namespace dark {

/// 2^x of 16 floats, x < 128, to one unit in the last place; zero where that is below the smallest normal
/// number, 2^-126, since the processor takes a hundred times as long to make a smaller one. NaN of a NaN
/// that an operation made (its low bits are zeros).
inline __m512 Exp2(__m512 x) {
  const __mmask16 normal = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-126.0F), _CMP_NLT_UQ);
  // The sum's lowest bits are x to the nearest whole number n.
  const __m512 shift = _mm512_set1_ps(0x1.8p23F), sum = x + shift, r = x - (sum - shift);
  // 2^r = 1 + r·p(r) for |r| ≤ 1/2, relative error at most 3e-9: minimax coefficients.
  __m512 power = _mm512_set1_ps(0x1.416b5p-13F);
  for (const float c :
       {0x1.5f082ep-10F, 0x1.3b2de0p-7F, 0x1.c6af7cp-5F, 0x1.ebfbdcp-3F, 0x1.62e430p-1F, 1.0F})
    power = _mm512_fmadd_ps(power, r, _mm512_set1_ps(c));
  const __m512i n = _mm512_slli_epi32(_mm512_castps_si512(sum), 23);  // in the place of the exponent
  return _mm512_castsi512_ps(_mm512_maskz_add_epi32(normal, _mm512_castps_si512(power), n));
}

/// 2^(kLog2E·x) = e^x.
inline constexpr float kLog2E = 1.44269504F;

}  // namespace dark

#endif
