#pragma once

#if defined(__AVX512BF16__)

#include <limits>

#include "core/attention/heads.h"
#include "core/tensor/bf16_blocks.h"
#include "core/tensor/bf16_pack.h"
#include "core/tensor/round_up.h"

namespace dark {

/// Scores stand in tiles of 32 queries × 32 keys.
inline constexpr Index kTile = kBf16Panel, kTileSize = kTile * kTile;
static_assert(kTile == kBf16Group);  // a tile of scores is a group of products, too
/// Keys at a time, whose scores and copies stay in the caches.
inline constexpr Index kTileKeys = 384;

/// Cuts working memory into parts, or measures it if there is none.
class ScratchCut {
 public:
  explicit ScratchCut(float* memory) : memory_(memory) {}
  float* Floats(Index count) {
    const Index begin = used_;
    used_ += RoundUp(count, 16);
    return memory_ == nullptr ? nullptr : memory_ + begin;
  }
  template <int kTerms>
  Bf16Packed<kTerms> Packed(Index count, Index depth) {
    return {reinterpret_cast<Bf16*>(Floats(Bf16PackedFloats<kTerms>(count, depth))), Bf16Groups(depth)};
  }
  Index used() const { return used_; }

 private:
  float* memory_;
  Index used_ = 0;
};

/// Rows of a head as an operand whose products are over its `dim` columns, or over its rows.
template <bool kLeft, class E = float, int kTerms>
void PackOverColumns(Index rows, Index dim, HeadView<const E> x, const Bf16Packed<kTerms>& to) {
  PackBf16<kTerms, kLeft, true>(rows, dim, x.data, x.stride, to.data);
}
template <bool kLeft, class E = float, int kTerms>
void PackOverRows(Index rows, Index dim, HeadView<const E> x, const Bf16Packed<kTerms>& to) {
  PackBf16<kTerms, kLeft, false>(dim, rows, x.data, x.stride, to.data);
}

/// Scores of keys after the query, of a tile on the diagonal, become −∞ and their exponentials zero.
inline void LeaveOutLaterKeys(float* scores) {
  const __m512 none = _mm512_set1_ps(-std::numeric_limits<float>::infinity());
  for (Index i = 0; i < kTile; ++i)
    for (Index j = 0; j < kTile; j += 16)
      _mm512_mask_storeu_ps(scores + i * kTile + j, static_cast<__mmask16>(~LaneMask<16>(i + 1 - j)), none);
}

}  // namespace dark

#endif
