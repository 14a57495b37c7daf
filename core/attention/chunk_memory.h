#pragma once

#if defined(__AVX512BF16__)

#include <bit>

#include "core/attention/chunk.h"
#include "core/attention/score_tile.h"
#include "core/attention/tile_sums.h"
#include "core/tensor/bf16_words.h"

namespace dark {

/// Working memory for one chunk of C tokens, with m features and values of d columns.
struct ChunkMemory {
  using Packed = Bf16Packed<1>;
  ScratchCut cut;
  struct {
    Packed phi_q, phi_q_t, phi_k, phi_k_t;  // C × m, m × C, C × m, m × C
    Packed v, dnum, dnum_t;                 // C × d, C × d, d × C
    Packed p, ds;                           // C × C
  } left;
  struct {
    Packed phi_k, phi_k_t;  // C × m, m × C
    Packed v, v_t, scaled;  // C × d, d × C, C × d
    Packed state, state_t;  // m × d, d × m
    Packed p, ds;           // C × C
  } right;
  float *scores, *dp;                  // tiles of pairs
  float* phi;                          // C × m
  float *features, *carried_features;  // sums of products, C × m
  float *values, *carried_values;      // C × d
  float *feature_strips, *value_strips;

  ChunkMemory(Index rows, Index m, Index d, float* memory) : cut(memory) {
    const auto packed = [&](Index count, Index depth) { return cut.Packed<1>(count, depth); };
    left = {packed(rows, m), packed(m, rows), packed(rows, m),    packed(m, rows),   packed(rows, d),
            packed(rows, d), packed(d, rows), packed(rows, rows), packed(rows, rows)};
    right = {packed(m, rows), packed(rows, m), packed(d, rows),    packed(rows, d),   packed(d, rows),
             packed(d, m),    packed(m, d),    packed(rows, rows), packed(rows, rows)};
    const Index tiles = RoundUp(rows, kTile) / kTile;
    scores = cut.Floats(tiles * tiles * kTileSize);
    dp = cut.Floats(tiles * tiles * kTileSize);
    phi = cut.Floats(rows * m);
    features = cut.Floats(rows * m);
    carried_features = cut.Floats(rows * m);
    values = cut.Floats(rows * d);
    carried_values = cut.Floats(rows * d);
    feature_strips = cut.Floats(tiles * StripSize(m));
    value_strips = cut.Floats(tiles * StripSize(d));
  }
};

/// C[rows × cols] = left·right + beta·C.
inline void MultiplyPacked(const Bf16Blocks<1>& blocks, Index rows, Index cols, const Bf16Packed<1>& left,
                           const Bf16Packed<1>& right, float beta, HeadView<float> c) {
  for (Index i = 0; i < rows; i += kTile)
    for (Index j = 0; j < cols; j += kTile)
      blocks.Multiply(left.groups, left.At(i, 0), right.At(j, 0),
                      {c.row(i) + j, c.stride, std::min(kTile, rows - i), std::min(kTile, cols - j), beta});
}

/// Rows times a factor each as a right operand whose products are over the rows.
inline void PackScaled(Index rows, Index cols, const float* factor, HeadView<const float> x,
                       const Bf16Packed<1>& to) {
  for (Index p = 0; p < RoundUp(rows, kTile); p += 2) {
    for (Index j = 0; j < RoundUp(cols, kTile); j += 16) {
      const auto given = static_cast<__mmask16>(LaneMask<16>(cols - j));
      const auto row = [&](Index i) {
        return i < rows ? _mm512_set1_ps(factor[i]) * _mm512_maskz_loadu_ps(given, x.row(i) + j)
                        : _mm512_setzero_ps();
      };
      StoreRightPair(row(p), row(p + 1), to.At(j, p), j / 16 % 2, p / 2 % 16);
    }
  }
}

/// Floats of `count` bfloat16.
inline void Expand(Index count, const Bf16* x, float* to) {
  for (Index i = 0; i < count; ++i) to[i] = std::bit_cast<float>(static_cast<std::uint32_t>(x[i]) << 16);
}

}  // namespace dark

#endif
