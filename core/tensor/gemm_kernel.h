#pragma once

#include <algorithm>

#include "core/tensor/simd.h"

namespace dark {

/// Rows and columns of C that one call of the kernel holds in registers: of 16 (AVX) registers 12 are sums,
/// two hold a row of B; of 32 (AVX-512) 28 are sums.
inline constexpr Index kKernelRows = kSimdBytes == 64 ? 14 : 6;
template <class T>
inline constexpr Index kKernelCols = 2 * kLanes<T>;

/// How the kernel finds A[i][p]: in a packed panel, or where it stands.
enum class Layout { kPacked, kRows, kColumns };

/// C = beta·C + the sums, kRows × kKernelCols of them.
template <class T, Index kRows>
inline void StoreTile(const Simd<T>* left, const Simd<T>* right, T beta, T* c, Index ldc) {
  constexpr Index kWidth = kLanes<T>;
  if (beta == T(0)) {
#pragma GCC unroll 14
    for (Index i = 0; i < kRows; ++i) {
      StoreSimd(c + i * ldc, left[i]);
      StoreSimd(c + i * ldc + kWidth, right[i]);
    }
    return;
  }
#pragma GCC unroll 14
  for (Index i = 0; i < kRows; ++i) {
    T* row = c + i * ldc;
    StoreSimd(row, FusedMultiplyAdd(beta, LoadSimd(row), left[i]));
    StoreSimd(row + kWidth, FusedMultiplyAdd(beta, LoadSimd(row + kWidth), right[i]));
  }
}

/// One tile of C, `kRows` × `cols` (at most kKernelCols):  C = beta·C + A·B over k products. Each
/// element is one chain of fused multiply-adds in the order of p, wherever its tile begins: results do not
/// depend on how a matrix was cut. B has rows of kKernelCols valid elements, `b_stride` apart.
template <class T, Index kRows, Layout kLayout>
inline void KernelTile(Index k, const T* a, Index a_stride, const T* b, Index b_stride, T beta, T* c,
                       Index ldc, Index cols) {
  constexpr Index kWidth = kLanes<T>;
  Simd<T> left[kRows], right[kRows];
#pragma GCC unroll 14
  for (Index i = 0; i < kRows; ++i) {
    left[i] = right[i] = Simd<T>{};
    // C's rows stand in as many pages, where the processor does not look ahead by itself.
    __builtin_prefetch(c + i * ldc);
    __builtin_prefetch(c + i * ldc + cols - 1);
  }
#pragma GCC unroll 4  // a row of p at a time leaves too little between two branches
  for (Index p = 0; p < k; ++p) {
    const Simd<T> b_left = LoadSimd(b + p * b_stride), b_right = LoadSimd(b + p * b_stride + kWidth);
#pragma GCC unroll 14
    for (Index i = 0; i < kRows; ++i) {
      const T value = kLayout == Layout::kPacked ? a[p * kKernelRows + i]
                      : kLayout == Layout::kRows ? a[i * a_stride + p]
                                                 : a[p * a_stride + i];
      left[i] = FusedMultiplyAdd(value, b_left, left[i]);
      right[i] = FusedMultiplyAdd(value, b_right, right[i]);
    }
  }
  if (cols == kKernelCols<T>) {
    StoreTile<T, kRows>(left, right, beta, c, ldc);
    return;
  }
  alignas(64) T edge[kRows * kKernelCols<T>] = {};
  for (Index i = 0; i < kRows; ++i) std::copy(c + i * ldc, c + i * ldc + cols, edge + i * kKernelCols<T>);
  StoreTile<T, kRows>(left, right, beta, edge, kKernelCols<T>);
  for (Index i = 0; i < kRows; ++i)
    std::copy(edge + i * kKernelCols<T>, edge + i * kKernelCols<T> + cols, c + i * ldc);
}

/// The same for any number of rows up to kKernelRows.
template <class T, Layout kLayout, Index kRows = kKernelRows>
inline void KernelRowsTile(Index rows, Index k, const T* a, Index a_stride, const T* b, Index b_stride,
                           T beta, T* c, Index ldc, Index cols) {
  if constexpr (kRows > 0) {
    if (rows == kRows) return KernelTile<T, kRows, kLayout>(k, a, a_stride, b, b_stride, beta, c, ldc, cols);
    KernelRowsTile<T, kLayout, kRows - 1>(rows, k, a, a_stride, b, b_stride, beta, c, ldc, cols);
  }
}

}  // namespace dark
