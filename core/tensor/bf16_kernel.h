#pragma once

#if defined(__AVX512BF16__)

#include <cstring>

#include "core/tensor/bf16_pack.h"

namespace dark {

/// One block of C: C += A·B for `groups` groups of products of a packed panel each, 32 × 32 sums. An element
/// is one chain over the groups that begins with C, so that where the chain is interrupted changes no bit.
using Bf16Kernel = void (*)(Index groups, const Bf16* a, const Bf16* b, bool from_zero, float* c, Index ldc);

/// By instructions that add two products to each of 16 sums (vdpbf16ps): 8 × 32 sums at a time.
inline void Bf16DotKernel(Index groups, const Bf16* a, const Bf16* b, bool from_zero, float* c, Index ldc) {
  constexpr Index kRows = 8;
  for (Index row = 0; row < kBf16Panel; row += kRows) {
    __m512 left[kRows], right[kRows];
#pragma GCC unroll 8
    for (Index i = 0; i < kRows; ++i) {
      const float* to = c + (row + i) * ldc;
      left[i] = from_zero ? _mm512_setzero_ps() : _mm512_loadu_ps(to);
      right[i] = from_zero ? _mm512_setzero_ps() : _mm512_loadu_ps(to + 16);
    }
    const Bf16* a_tile = a + row / 16 * kBf16Tile + row % 16 * kBf16Group;
    const auto pairs = [](__m512i x) { return reinterpret_cast<__m512bh>(x); };
    for (Index g = 0; g < groups; ++g) {
      const Bf16 *a_pair = a_tile + g * kBf16Term, *b_pair = b + g * kBf16Term;
      for (Index r = 0; r < 16; ++r, a_pair += 2, b_pair += 32) {
        const __m512i b_left = _mm512_loadu_si512(b_pair), b_right = _mm512_loadu_si512(b_pair + kBf16Tile);
#pragma GCC unroll 8
        for (Index i = 0; i < kRows; ++i) {
          int both;
          std::memcpy(&both, a_pair + i * kBf16Group, sizeof both);
          const __m512i value = _mm512_set1_epi32(both);
          left[i] = _mm512_dpbf16_ps(left[i], pairs(value), pairs(b_left));
          right[i] = _mm512_dpbf16_ps(right[i], pairs(value), pairs(b_right));
        }
      }
    }
#pragma GCC unroll 8
    for (Index i = 0; i < kRows; ++i) {
      _mm512_storeu_ps(c + (row + i) * ldc, left[i]);
      _mm512_storeu_ps(c + (row + i) * ldc + 16, right[i]);
    }
  }
}

}  // namespace dark

#endif
