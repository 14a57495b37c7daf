#pragma once

#if defined(__AVX512BF16__)

#include "core/attention/score_tile.h"
#include "core/tensor/bf16_words.h"
#include "core/tensor/exp2.h"

namespace dark {

/// P and dS of 16 pairs of a query and a key.
struct PAndDs {
  __m512 p, ds;
};

/// Of softmax, from scores and dP of a tile: P = exp(score − log_sum) and dS = P∘(dP − D). Row by row
/// `log_sum` is −log2 of the sum of exponentials and `dots` is D.
struct SoftmaxPairs {
  const float *scores, *dp, *log_sum, *dots;

  PAndDs At(Index row, Index col) const {
    const Index at = row * kTile + col;
    const __m512 p = Exp2(
        _mm512_fmadd_ps(_mm512_load_ps(scores + at), _mm512_set1_ps(kLog2E), _mm512_set1_ps(log_sum[row])));
    return {p, p * (_mm512_load_ps(dp + at) - _mm512_set1_ps(dots[row]))};
  }
};

/// P and dS of a tile of `Pairs` as operands of the products that follow: right ones of the sums over
/// queries, and dS a left one of the sums over keys. Does a pair of rows at a time, so that others can be
/// done between the products of the next tile.
template <int kTerms, class Pairs>
class TileGradients {
 public:
  TileGradients() = default;
  TileGradients(const Pairs& pairs, Bf16* p, Bf16* ds, Bf16* ds_left)
      : pairs_(pairs), p_(p), ds_(ds), ds_left_(ds_left), pair_(0) {}

  void Step() {
    if (pair_ < kPairs) Pair(pair_++);
  }
  void Finish() {
    while (pair_ < kPairs) Pair(pair_++);
  }

 private:
  static constexpr Index kPairs = kTile / 2;

  void Pair(Index pair) const {
    const Index first = PlaceInPair<kTerms>(pair, 0), second = PlaceInPair<kTerms>(pair, 1);
    const auto [p0, ds0] = Half(first, 0);
    const auto [p1, ds1] = Half(first, 16);
    const auto [p2, ds2] = Half(second, 0);
    const auto [p3, ds3] = Half(second, 16);
    StoreLeftRow(ds0, ds1, ds_left_, first);
    StoreLeftRow(ds2, ds3, ds_left_, second);
    StoreRightPair(ds0, ds2, ds_, 0, pair);
    StoreRightPair(ds1, ds3, ds_, 1, pair);
    StoreRightPair(p0, p2, p_, 0, pair);
    StoreRightPair(p1, p3, p_, 1, pair);
  }

  struct Words {
    Bf16Words<kTerms> p, ds;
  };
  Words Half(Index row, Index col) const {
    const auto [p, ds] = pairs_.At(row, col);
    return {Bf16Words<kTerms>(p), Bf16Words<kTerms>(ds)};
  }

  Pairs pairs_ = {};
  Bf16 *p_ = nullptr, *ds_ = nullptr, *ds_left_ = nullptr;
  Index pair_ = kPairs;
};

}  // namespace dark

#endif
