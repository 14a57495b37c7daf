#pragma once

#if defined(__AVX512BF16__)

#include "core/attention/score_tile.h"

namespace dark {

/// Sums for a block of keys [dim × keys] stand in a strip for each tile of keys, tile by tile.
inline Index StripSize(Index dim) { return RoundUp(dim, kTile) * kTile; }

/// to[key] = beta·to[key] + column `key` of the sums; beta is 0 or 1.
inline void AddTransposed(Index keys, Index dim, const float* sums, float beta, HeadView<float> to) {
  for (Index key = 0; key < keys; key += 16) {
    const float* strip = sums + key / kTile * StripSize(dim) + key % kTile;
    for (Index col = 0; col < dim; col += 16) {
      __m512i words[16];
      LoadFloats(16, 16, strip + col * kTile, kTile, words);
      TransposeWords(words);
      const auto given = static_cast<__mmask16>(LaneMask<16>(dim - col));
      for (Index i = 0; i < std::min<Index>(16, keys - key); ++i) {
        float* row = to.row(key + i) + col;
        __m512 sum = _mm512_castsi512_ps(words[i]);
        if (beta != 0) sum += _mm512_maskz_loadu_ps(given, row);
        _mm512_mask_storeu_ps(row, given, sum);
      }
    }
  }
}

}  // namespace dark

#endif
