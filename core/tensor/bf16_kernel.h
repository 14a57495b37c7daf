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
      const Bf16 *a_pair = a_tile + g * kBf16GroupSize, *b_pair = b + g * kBf16GroupSize;
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

#if defined(__AMX_BF16__)

/// Whether the system lets this process use matrix tiles; asks once.
bool MayUseTiles();

/// The shapes of the eight tiles, of which each thread is told before it uses them: 16 rows of 64 bytes.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
inline constexpr TileShapes kTileShapes;

/// By matrix tiles: 0 … 3 are sums, 4 and 5 rows of A, 6 and 7 columns of B. Needs kTileShapes loaded.
inline void Bf16TileKernel(Index groups, const Bf16* a, const Bf16* b, bool from_zero, float* c, Index ldc) {
  const Index stride = ldc * static_cast<Index>(sizeof(float));
  float* below = c + 16 * ldc;
  asm volatile("" ::: "memory");  // g++ 12 does not know that a tile is loaded from memory
  if (from_zero) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  } else {
    _tile_loadd(0, c, stride);
    _tile_loadd(1, c + 16, stride);
    _tile_loadd(2, below, stride);
    _tile_loadd(3, below + 16, stride);
  }
  for (Index g = 0; g < groups; ++g, a += kBf16GroupSize, b += kBf16GroupSize) {
    if (from_zero && g < 8) {  // C, that has not been read, stands in as many pages as it has rows
      for (const float* row = c + 4 * g * ldc; row < c + 4 * (g + 1) * ldc; row += ldc) {
        __builtin_prefetch(row, 1);
        __builtin_prefetch(row + 16, 1);
      }
    }
    _tile_loadd(6, b, 64);
    _tile_loadd(4, a, 64);
    _tile_loadd(7, b + kBf16Tile, 64);
    _tile_loadd(5, a + kBf16Tile, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c, stride);
  _tile_stored(1, c + 16, stride);
  _tile_stored(2, below, stride);
  _tile_stored(3, below + 16, stride);
}

#endif

}  // namespace dark

#endif
