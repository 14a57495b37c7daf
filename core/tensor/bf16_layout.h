#pragma once

#if defined(__AVX512BF16__)

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

#include "core/tensor/bf16_matmul.h"

namespace dark {

/// A packed operand is a row of panels, each for kBf16Panel rows of A (columns of B). A panel is a row of
/// groups of kBf16Group products; a group has two tiles of 16 × 64 bytes for each term, the first for the
/// panel's first half:
///   tile of A [row][pair][2],  tile of B [pair][column][2],  PlaceInPair: which product of the group it is.
/// Rows, columns and products beyond the operand are zeros.
inline constexpr Index kBf16Panel = kBf16Unit, kBf16Group = 32, kBf16Tile = 512, kBf16Term = 2 * kBf16Tile;
template <int kTerms>
inline constexpr Index kBf16GroupSize = kTerms* kBf16Term;
/// Neighbours in memory where operands are rounded; 16 apart where they are split, which saves a permutation.
template <int kTerms>
Index PlaceInPair(Index pair, Index half) {
  return kTerms == 1 ? 2 * pair + half : pair + 16 * half;
}

inline Index Bf16Groups(Index depth) { return (depth + kBf16Group - 1) / kBf16Group; }
inline Index Bf16Panels(Index count) { return (count + kBf16Panel - 1) / kBf16Panel; }

/// Row r of tile t of a term of a group.
inline Bf16* TileRow(Bf16* term, Index t, Index r) { return term + t * kBf16Tile + r * kBf16Group; }

/// A packed operand, or a part of one that begins with a panel and a group.
template <int kTerms>
struct Bf16Packed {
  Bf16* data;
  Index groups;  ///< of a panel

  /// The panel of row (column) i, from the group of product p on.
  Bf16* At(Index i, Index p) const {
    return data + (i / kBf16Panel * groups + p / kBf16Group) * kBf16GroupSize<kTerms>;
  }
};
/// Floats whose memory holds a packed operand.
template <int kTerms>
Index Bf16PackedFloats(Index count, Index depth) {
  return Bf16Panels(count) * Bf16Groups(depth) * kBf16GroupSize<kTerms> / 2;
}

/// The first `lanes` of `kLanes` lanes.
template <int kLanes>
std::uint32_t LaneMask(Index lanes) {
  return static_cast<std::uint32_t>((std::uint64_t{1} << std::clamp<Index>(lanes, 0, kLanes)) - 1);
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

}  // namespace dark

#endif
