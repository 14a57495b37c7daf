#pragma once

#if defined(__AVX512BF16__)

#include <cmath>
#include <limits>

#include "core/attention/score_tile.h"
#include "core/tensor/bf16_words.h"
#include "core/tensor/exp2.h"

namespace dark {

/// One number for each of 16 registers: that of its lanes by an associative operation.
template <class Operation>
__m512 AcrossLanes(__m512 (&rows)[16], const Operation& operation) {
  __m512i words[16];
  for (Index i = 0; i < 16; ++i) words[i] = _mm512_castps_si512(rows[i]);
  TransposeWords(words);
  for (Index half = 8; half > 0; half /= 2)
    for (Index i = 0; i < half; ++i)
      words[i] =
          _mm512_castps_si512(operation(_mm512_castsi512_ps(words[i]), _mm512_castsi512_ps(words[i + half])));
  return _mm512_castsi512_ps(words[0]);
}

/// Running maxima and sums of a tile's rows of queries over tiles of scores, one tile after the other in
/// memory.
class TileSoftmax {
 public:
  TileSoftmax() {
    std::fill(std::begin(max_), std::end(max_), -std::numeric_limits<float>::infinity());
    std::fill(std::begin(sum_), std::end(sum_), 0.0F);
  }
  float Scale(Index i) const { return 1 / sum_[i]; }
  float LogSum(Index i) const { return max_[i] + std::log(sum_[i]); }
  /// What outputs so far are to be multiplied by since the maximum rose.
  float Factor(Index i) const { return factor_[i]; }

  /// Takes the maxima of these scores in; whether any rose. A score that is NaN shows in P.
  bool Raise(Index tiles, const float* scores) {
    const auto larger = [](__m512 a, __m512 b) { return _mm512_max_ps(a, b); };
    bool rose = false;
    for (Index row = 0; row < kTile; row += 16) {
      __m512 largest[16];
      for (Index i = 0; i < 16; ++i) {
        const float* x = scores + (row + i) * kTile;
        __m512 low = _mm512_load_ps(x), high = _mm512_load_ps(x + 16);
        for (Index tile = 1; tile < tiles; ++tile) {
          low = larger(low, _mm512_load_ps(x + tile * kTileSize));
          high = larger(high, _mm512_load_ps(x + tile * kTileSize + 16));
        }
        largest[i] = larger(low, high);
      }
      const __m512 before = _mm512_load_ps(max_ + row), max = larger(before, AcrossLanes(largest, larger));
      const __m512 factor = Exp2((before - max) * _mm512_set1_ps(kLog2E));
      rose |= _mm512_cmp_ps_mask(before, max, _CMP_NEQ_UQ) != 0;
      _mm512_store_ps(max_ + row, max);
      _mm512_store_ps(factor_ + row, factor);
      _mm512_store_ps(sum_ + row, _mm512_load_ps(sum_ + row) * factor);
    }
    return rose;
  }

  /// P = exp(score − maximum), as a left operand of the sums over keys, and adds it to the sums.
  template <int kTerms>
  void Exponentials(Index tiles, const float* scores, const Bf16Packed<kTerms>& p) {
    const __m512 scale = _mm512_set1_ps(kLog2E);
    for (Index row = 0; row < kTile; row += 16) {
      __m512 sums[16];
      for (Index i = 0; i < 16; ++i) {
        const __m512 shift = _mm512_set1_ps(-kLog2E * max_[row + i]);
        const float* x = scores + (row + i) * kTile;
        const auto exponential = [&](const float* score) {
          return Exp2(_mm512_fmadd_ps(_mm512_load_ps(score), scale, shift));
        };
        __m512 low_sum = _mm512_setzero_ps(), high_sum = low_sum;
        for (Index tile = 0; tile < tiles; ++tile, x += kTileSize) {
          const __m512 low = exponential(x), high = exponential(x + 16);
          low_sum += low;
          high_sum += high;
          using Words = Bf16Words<kTerms>;
          StoreLeftRow(Words(low), Words(high), p.At(0, tile * kTile), row + i);
        }
        sums[i] = low_sum + high_sum;
      }
      const auto sum = AcrossLanes(sums, [](__m512 a, __m512 b) { return a + b; });
      _mm512_store_ps(sum_ + row, _mm512_load_ps(sum_ + row) + sum);
    }
  }

 private:
  alignas(64) float max_[kTile], sum_[kTile], factor_[kTile];
};

}  // namespace dark

#endif
