#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/feature_map.h"
#include "core/tensor/matmul.h"
#include "core/tensor/round_up.h"
#include "core/tensor/rows.h"
#include "core/tensor/simd.h"

namespace dark {

/// Tokens whose scores are computed pairwise; between chunks only states pass.
inline constexpr Index kChunk = 64;

/// The pairs of a chunk.
inline constexpr Causal kResult{Causal::Of::kResult}, kLeft{Causal::Of::kLeft};

template <class T>
using ConstHead = HeadView<const T>;

template <class T>
using RowArray = Eigen::Map<Eigen::Array<T, 1, Eigen::Dynamic>>;

/// x becomes e^x, and 0 where that is no normal number.
template <class T>
void Exponentials(Index count, T* x) {
  ForLanes<T>(count, [&](auto at) { at.Store(x, Exponential<T>(at.Load(x))); });
}

/// Row i of a chunk's weights: the first i + 1 of kChunk numbers, then zeros.
template <class T>
void StoreSeen(Index i, const T* numbers, T* row) {
  for (Index j = 0; j < kChunk; j += kLanes<T>)
    StoreSimd(row + j, FirstLanes<T>(i + 1 - j, LoadSimd(numbers + j), Simd<T>{}));
}

/// The running scales of one chunk and the factors that follow from them. All exponents that count are ≤ 0:
/// those of keys ahead are not stored.
///   running[i] = r_i = max(before, key_scale[0..i])
///   carry[i]   = exp(before − r_i): factor of the state that came in
///   weights[i][j] = exp(key_scale[j] − r_i) for j ≤ i < rows, else 0  [kChunk × kChunk]
/// Exponentials are taken where the scale has risen; mostly it has not.
template <class T>
void ChunkWeights(Index rows, T before, const T* key_scale, T* running, T* carry, T* weights) {
  T of_scale[kChunk] = {}, scale = before, carried = T(1);
  for (Index i = 0; i < rows; ++i) {
    const bool rises = !(key_scale[i] <= scale);  // also true for NaN, which then shows in the output
    if (rises) {
      scale = key_scale[i];
      carried = Exponential(before - scale);
    }
    if (rises || i == 0)
      ForLanes<T>(rows, [&](auto at) { at.Store(of_scale, Exponential<T>(at.Load(key_scale) - scale)); });
    running[i] = scale;
    carry[i] = carried;
    StoreSeen(i, of_scale, weights + i * kChunk);
  }
  std::fill_n(weights + rows * kChunk, (kChunk - rows) * kChunk, T(0));
}

/// Pairs of row i of a chunk that are computed, those it sees filled up to whole registers (their weights are
/// 0).
template <class T>
Index PairsOfRow(Index i, Index rows) {
  return std::min(rows, RoundUp(i + 1, kLanes<T>));
}

/// Prefix state of one key head: S = Σ φ(k_s) v_sᵀ [m × value_dim] and z = Σ φ(k_s) [m], relative to e^scale.
template <class T>
struct PrefixState {
  T* s;
  T* z;
  Index m, value_dim;
  T scale = -std::numeric_limits<T>::infinity();

  auto S() const { return MatrixMap<T>(s, m, value_dim); }
  auto Z() const { return Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>(z, m); }
  void Clear() {
    S().setZero();
    Z().setZero();
    scale = -std::numeric_limits<T>::infinity();
  }

  /// Elements that Save writes and Load reads.
  static Index Size(Index m, Index value_dim) { return (m * (value_dim + 1) + 16) / 16 * 16; }
  void Save(T* to) const {
    to = std::copy_n(s, m * value_dim, to);
    *std::copy_n(z, m, to) = scale;
  }
  void Load(const T* from) {
    std::copy_n(from, m * value_dim, s);
    std::copy_n(from + m * value_dim, m, z);
    scale = from[m * (value_dim + 1)];
  }
};

}  // namespace dark
