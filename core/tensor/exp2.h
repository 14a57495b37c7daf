#pragma once

#if defined(__AVX512F__)

#include <immintrin.h>

#include <initializer_list>

namespace dark {

/// 2^(n + r) for whole n and |r| ≤ 1/2, of which n stands in the lowest bits of `shifted`; zero where that is
/// not `normal`, below 2^-126: the processor takes a hundred times as long to make a smaller number.
inline __m512 PowerOfTwo(__m512 shifted, __m512 r, __mmask16 normal) {
  // 2^r = 1 + r·p(r), relative error at most 3e-9: minimax coefficients.
  __m512 power = _mm512_set1_ps(0x1.416b5p-13F);
  for (const float c :
       {0x1.5f082ep-10F, 0x1.3b2de0p-7F, 0x1.c6af7cp-5F, 0x1.ebfbdcp-3F, 0x1.62e430p-1F, 1.0F})
    power = _mm512_fmadd_ps(power, r, _mm512_set1_ps(c));
  const __m512i n = _mm512_slli_epi32(_mm512_castps_si512(shifted), 23);  // in the place of the exponent
  return _mm512_castsi512_ps(_mm512_maskz_add_epi32(normal, _mm512_castps_si512(power), n));
}
/// What is added to a number to find the nearest whole one in its lowest bits.
inline constexpr float kToWhole = 0x1.8p23F;

/// 2^x of 16 floats, x < 128, to one unit in the last place, and zero below the smallest normal number,
/// 2^-126. NaN of a NaN that an operation made (its low bits are zeros).
inline __m512 Exp2(__m512 x) {
  const __mmask16 normal = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-126.0F), _CMP_NLT_UQ);
  const __m512 to_whole = _mm512_set1_ps(kToWhole), shifted = x + to_whole;
  return PowerOfTwo(shifted, x - (shifted - to_whole), normal);
}

/// 2^(kLog2E·x) = e^x; the rest of log2(e).
inline constexpr float kLog2E = 1.44269504F, kLog2ERest = 1.92596303e-8F;

/// e^x likewise, x < 88.7.
inline __m512 Exp(__m512 x) {
  const __mmask16 normal = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-0x1.5d589ep6F), _CMP_NLT_UQ);
  const __m512 log2_e = _mm512_set1_ps(kLog2E), to_whole = _mm512_set1_ps(kToWhole);
  const __m512 shifted = _mm512_fmadd_ps(x, log2_e, to_whole);
  const __m512 r = _mm512_fmsub_ps(x, log2_e, shifted - to_whole);
  return PowerOfTwo(shifted, _mm512_fmadd_ps(x, _mm512_set1_ps(kLog2ERest), r), normal);
}

}  // namespace dark

#endif
