#pragma once

#if defined(__AVX512BF16__)

#include "core/attention/score_tile.h"
#include "core/tensor/bf16_words.h"
#include "core/tensor/exp2.h"

namespace dark {

/// Scores and dP of a tile to P = exp(score − log_sum) and dS = P∘(dP − D), as operands of the products that
/// follow: right ones of the sums over queries, and dS a left one of the sums over keys. Does a pair of rows
/// at a time, so that others can be done between the products of the next tile.
template <int kTerms>
class TileGradients {
 public:
  TileGradients() = default;
  /// Row by row `log_sum` is −log2 of the sum of exponentials and `dots` is D.
  TileGradients(const float* scores, const float* dp, const float* log_sum, const float* dots, Bf16* p,
                Bf16* ds, Bf16* ds_left)
      : scores_(scores),
        dp_(dp),
        log_sum_(log_sum),
        dots_(dots),
        p_(p),
        ds_(ds),
        ds_left_(ds_left),
        pair_(0) {}

  void Step() {
    if (pair_ < kPairs) Pair(pair_++);
  }
  void Finish() {
    while (pair_ < kPairs) Pair(pair_++);
  }

 private:
  using Words = Bf16Words<kTerms>;
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

  /// 16 columns of a row.
  struct PAndDs {
    Words p, ds;
  };
  PAndDs Half(Index row, Index col) const {
    const Index at = row * kTile + col;
    const __m512 p = Exp2(
        _mm512_fmadd_ps(_mm512_load_ps(scores_ + at), _mm512_set1_ps(kLog2E), _mm512_set1_ps(log_sum_[row])));
    const __m512 ds = p * (_mm512_load_ps(dp_ + at) - _mm512_set1_ps(dots_[row]));
    return {Words(p), Words(ds)};
  }

  const float *scores_ = nullptr, *dp_ = nullptr, *log_sum_ = nullptr, *dots_ = nullptr;
  Bf16 *p_ = nullptr, *ds_ = nullptr, *ds_left_ = nullptr;
  Index pair_ = kPairs;
};

}  // namespace dark

#endif
