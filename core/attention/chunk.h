#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/feature_map.h"
#include "core/tensor/matmul.h"
#include "core/tensor/round_up.h"
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

/// x becomes e^x, and 0 where that is no normal number. Eigen's exponential of anything very negative is a
/// subnormal number, in double and with AVX2: a normaliser that underflows would be a sum of those.
template <class T>
void Exponentials(Index count, T* x) {
  RowArray<T>(x, count) = RowArray<T>(x, count).exp();
  for (Index i = 0; i < count; ++i) x[i] = x[i] < std::numeric_limits<T>::min() ? T(0) : x[i];
}

/// φ(x) relative to each row's largest feature: phi = φ(x)/e^scale, scale = max_j log φ_j, for `rows` rows of
/// x. `scale` may be nullptr where it cancels (queries).
template <class T>
void ScaledFeatures(const FeatureMap<T>& map, Index key_head, Index rows, ConstHead<T> x, T* phi, T* scale) {
  const Index m = map.features();
  map.LogFeatures(key_head, rows, x, phi, scale);
  for (Index i = 0; i < rows; ++i) {
    RowArray<T> row(phi + i * m, m);
    const T max = row.maxCoeff();
    if (scale != nullptr) scale[i] += max;
    row -= max;
    Exponentials(m, row.data());
  }
}

/// The running scales of one chunk and the factors that follow from them. All exponents are ≤ 0.
///   running[i] = r_i = max(before, key_scale[0..i])
///   carry[i]   = exp(before − r_i): factor of the state that came in
///   weights[i][j] = exp(key_scale[j] − r_i) for j ≤ i, else 0
/// A row whose scale did not rise repeats the row above, so only O(rows) exponentials are taken.
template <class T>
void ChunkWeights(Index rows, T before, const T* key_scale, T* running, T* carry, T* weights) {
  T rise[kChunk], own[kChunk], scale = before, carried = T(1);
  for (Index i = 0; i < rows; ++i) {
    rise[i] = T(1);
    if (!(key_scale[i] <= scale)) {  // also true for NaN, which then shows in the output
      rise[i] = std::exp(scale - key_scale[i]);
      scale = key_scale[i];
    }
    running[i] = scale;
    carry[i] = carried *= rise[i];
  }
  for (Index i = 0; i < rows; ++i) own[i] = key_scale[i] - running[i];
  Exponentials(rows, own);
  std::fill_n(weights, rows, T(0));
  weights[0] = own[0];
  for (Index i = 1; i < rows; ++i) {
    T* const row = weights + i * rows;
    RowArray<T>(row, rows) = rise[i] * RowArray<T>(row - rows, rows);
    row[i] = own[i];
  }
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
