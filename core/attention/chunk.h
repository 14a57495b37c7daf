#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/feature_map.h"

namespace dark {

/// Tokens whose scores are computed pairwise; between chunks only states pass.
inline constexpr Index kChunk = 64;

template <class T>
using ConstHead = HeadView<const T>;

/// φ(x) relative to each row's largest feature: phi = exp(a − scale), scale = max_j a_j, for `rows` rows of
/// x. `scale` may be nullptr where it cancels (queries).
template <class T>
void ScaledFeatures(const FeatureMap<T>& map, Index key_head, Index rows, ConstHead<T> x, T* phi, T* scale) {
  const Index m = map.features();
  map.LogFeatures(key_head, rows, x, phi);
  for (Index i = 0; i < rows; ++i) {
    Eigen::Map<Eigen::Array<T, 1, Eigen::Dynamic>> row(phi + i * m, m);
    const T max = row.maxCoeff();
    if (scale != nullptr) scale[i] = max;
    row = (row - max).exp();
  }
}

/// The running scales of one chunk and the factors that follow from them. All exponents are ≤ 0.
///   running[i] = r_i = max(before, key_scale[0..i])
///   carry[i]   = exp(before − r_i): factor of the state that came in
///   weights[i][j] = exp(key_scale[j] − r_i) for j ≤ i, else 0
/// A row whose scale did not rise repeats the row above, so only O(rows) exponentials are taken.
template <class T>
void ChunkWeights(Index rows, T before, const T* key_scale, T* running, T* carry, T* weights) {
  T scale = before, carried = T(1);
  for (Index i = 0; i < rows; ++i) {
    T* row = weights + i * rows;
    const T* above = row - rows;
    T factor = T(1);
    if (!(key_scale[i] <= scale)) {  // also true for NaN, which then shows in the output
      factor = std::exp(scale - key_scale[i]);
      scale = key_scale[i];
    }
    for (Index j = 0; j < i; ++j) row[j] = above[j] * factor;
    row[i] = std::exp(key_scale[i] - scale);
    for (Index j = i + 1; j < rows; ++j) row[j] = T(0);
    carried *= factor;
    carry[i] = carried;
    running[i] = scale;
  }
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
