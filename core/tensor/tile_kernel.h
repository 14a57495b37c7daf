#pragma once

#if defined(__AVX512BF16__) && defined(__AMX_BF16__)

#include "core/tensor/bf16_layout.h"

namespace dark {

/// The shapes of the eight tiles, of which each thread is told before it uses them: 16 rows of 64 bytes.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
inline constexpr TileShapes kTileShapes;

/// While one lives, its thread may use tiles. Gives the matrix unit's state back at the end: while a thread
/// holds any, the system must save 8 KiB more of it.
class TileUse {
 public:
  TileUse() { _tile_loadconfig(&kTileShapes); }
  ~TileUse() { _tile_release(); }
  TileUse(const TileUse&) = delete;
  TileUse& operator=(const TileUse&) = delete;
};

/// Tiles 4 and 5 hold rows of A, 6 and 7 columns of B, one term of them; 0 … 3 are sums.
inline void LoadLeftTiles(const Bf16* a) {
  _tile_loadd(4, a, 64);
  _tile_loadd(5, a + kBf16Tile, 64);
}
template <int kTerms>
void LoadRightTiles(const Bf16* b) {
  _tile_loadd(6, b, 64);
  _tile_loadd(7, b + kBf16Tile, 64);
  // B comes from the second-level cache: reads the same of the next group ahead. With one term the loads are
  // the bound.
  if constexpr (kTerms > 1) {
#pragma GCC unroll 32
    for (Index line = 0; line < kBf16Term; line += 32) __builtin_prefetch(b + kBf16GroupSize<kTerms> + line);
  }
}
/// Sums += rows of A · columns of B.
inline void MultiplyTiles() {
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
}

/// Products of tiles of a group, four each.
template <int kTerms>
inline constexpr Index kTileSteps = kTerms == 1 ? 1 : 6;

/// Adds the products of one group. Of three terms: x₀y₂, x₀y₁, x₁y₁, x₁y₀, x₂y₀ and, largest and last, x₀y₀,
/// so that each but the first finds one of its operands in the tiles. Calls `between(i)` after step i.
template <int kTerms, class Between>
inline void MultiplyGroup(const Bf16* a, const Bf16* b, Index step, const Between& between) {
  const auto multiply = [&] {
    MultiplyTiles();
    between(step++);
  };
  LoadLeftTiles(a);
  LoadRightTiles<kTerms>(b + (kTerms - 1) * kBf16Term);
  multiply();
  if constexpr (kTerms == 1) return;
  LoadRightTiles<kTerms>(b + kBf16Term);
  multiply();
  LoadLeftTiles(a + kBf16Term);
  multiply();
  LoadRightTiles<kTerms>(b);
  multiply();
  LoadLeftTiles(a + 2 * kBf16Term);
  multiply();
  LoadLeftTiles(a);
  multiply();
}

/// A Bf16Kernel by matrix tiles, for operands of kTerms terms. Calls `between(i)` after each step i of all
/// groups' kTileSteps: the matrix unit takes long enough for a step for other work. Needs a TileUse.
template <int kTerms, class Between>
void MultiplyByTiles(Index groups, const Bf16* a, const Bf16* b, bool from_zero, float* c, Index ldc,
                     const Between& between) {
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
  for (Index g = 0; g < groups; ++g, a += kBf16GroupSize<kTerms>, b += kBf16GroupSize<kTerms>)
    MultiplyGroup<kTerms>(a, b, g * kTileSteps<kTerms>, between);
  _tile_stored(0, c, stride);
  _tile_stored(1, c + 16, stride);
  _tile_stored(2, below, stride);
  _tile_stored(3, below + 16, stride);
}

/// Reads rows [begin, begin + count) of the 32 of a block ahead: they stand in as many pages.
inline void ReadRowsAhead(Index begin, Index count, const float* c, Index ldc) {
  for (Index row = begin; row < std::min(begin + count, kBf16Panel); ++row) {
    __builtin_prefetch(c + row * ldc, 1);
    __builtin_prefetch(c + row * ldc + 16, 1);
  }
}

inline void Bf16TileKernel(Index groups, const Bf16* a, const Bf16* b, bool from_zero, float* c, Index ldc) {
  MultiplyByTiles<1>(groups, a, b, from_zero, c, ldc, [&](Index step) {
    if (from_zero) ReadRowsAhead(4 * step, 4, c, ldc);
  });
}

}  // namespace dark

#endif
