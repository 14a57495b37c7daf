#pragma once

#if defined(__AVX512BF16__)

#include <algorithm>

#include "core/tensor/bf16.h"
#include "core/tensor/bf16_matmul.h"

namespace dark {

/// A packed operand is a row of panels, each for kBf16Panel rows of A (columns of B). A panel is a row of
/// groups of kBf16Group products, a group two tiles of 16 × 64 bytes, the first for the panel's first half:
///   tile of A [row][product],  tile of B [product / 2][column][product % 2].
/// Rows, columns and products beyond the operand are zeros.
inline constexpr Index kBf16Panel = kBf16Unit, kBf16Group = 32, kBf16Tile = 512,
                       kBf16GroupSize = 2 * kBf16Tile;

inline Index Bf16Groups(Index depth) { return (depth + kBf16Group - 1) / kBf16Group; }
inline Index Bf16Panels(Index count) { return (count + kBf16Panel - 1) / kBf16Panel; }

/// The first `lanes` of `kLanes` lanes.
template <int kLanes>
std::uint32_t LaneMask(Index lanes) {
  return static_cast<std::uint32_t>((std::uint64_t{1} << std::clamp<Index>(lanes, 0, kLanes)) - 1);
}

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

/// tile[i] = x[i·ldx …] of 32 products, for i < rows.
template <class E>
void LoadRows(Index rows, Index products, const E* x, Index ldx, __m512i (&tile)[16]) {
  for (Index i = 0; i < 16; ++i) tile[i] = i < rows ? Load32(x + i * ldx, products) : _mm512_setzero_si512();
}

/// tile[r] = pairs (x[2r·ldx + j], x[(2r + 1)·ldx + j]) for 16 columns j, of which `columns` are given.
template <class E>
void LoadPairs(Index columns, Index products, const E* x, Index ldx, __m512i (&tile)[16]) {
  static const __m512i kInterleave =
      _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21, 5, 20,
                       4, 19, 3, 18, 2, 17, 1, 16, 0);
  const auto row = [&](Index p) { return p < products ? x + p * ldx : nullptr; };
  for (Index r = 0; r < 16; ++r)
    tile[r] = _mm512_permutexvar_epi16(kInterleave, Load16And16(row(2 * r), row(2 * r + 1), columns));
}

/// Transposes 16 × 16 words of 32 bits: 4 × 4 within the quarters of the registers, then the quarters.
inline void TransposeWords(__m512i (&x)[16]) {
  __m512i y[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]);
    x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
    x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]);
    x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m512i even_low = _mm512_shuffle_i32x4(x[i], x[i + 4], 0x88),
                  even_high = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0x88),
                  odd_low = _mm512_shuffle_i32x4(x[i], x[i + 4], 0xdd),
                  odd_high = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0xdd);
    x[i] = _mm512_shuffle_i32x4(even_low, even_high, 0x88);
    x[i + 4] = _mm512_shuffle_i32x4(odd_low, odd_high, 0x88);
    x[i + 8] = _mm512_shuffle_i32x4(even_low, even_high, 0xdd);
    x[i + 12] = _mm512_shuffle_i32x4(odd_low, odd_high, 0xdd);
  }
}

/// Panels of a left (`kLeft`) or right operand, of floats or of what they round to. `kByRows`: x[i·ldx + p]
/// is product p of row (column) i, else x[p·ldx + i]. What is read in the order of the other operand's tiles
/// is transposed.
template <bool kLeft, bool kByRows, class E>
void PackBf16(Index count, Index depth, const E* x, Index ldx, Bf16* out) {
  const Index tiles = 2 * Bf16Panels(count), groups = Bf16Groups(depth), panel = groups * kBf16GroupSize;
  const auto pack = [&](Index t, Index g) {
    const Index i = t * 16, p = g * kBf16Group;
    __m512i tile[16];
    if constexpr (kByRows) {
      LoadRows(count - i, depth - p, x + std::min(i, count - 1) * ldx + p, ldx, tile);
    } else {
      LoadPairs(count - i, depth - p, x + p * ldx + i, ldx, tile);
    }
    if constexpr (kLeft != kByRows) TransposeWords(tile);
    Bf16* to = out + t / 2 * panel + g * kBf16GroupSize + t % 2 * kBf16Tile;
    for (Index r = 0; r < 16; ++r) _mm512_storeu_si512(to + r * 32, tile[r]);
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

template <bool kLeft, bool kByRows>
void PackBf16(Index count, Index depth, const OperandView<float>& x, Bf16* out) {
  if (x.rounded != nullptr) return PackBf16<kLeft, kByRows>(count, depth, x.rounded, x.stride, out);
  PackBf16<kLeft, kByRows>(count, depth, x.full, x.stride, out);
}

}  // namespace dark

#endif
