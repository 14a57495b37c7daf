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

/// One tile of C, `kRows` × `cols` (at most kKernelCols):  C = beta·C + alpha·A·B over k products. Each
/// element is one chain of fused multiply-adds in the order of p, wherever its tile begins: results do not
/// depend on how a matrix was cut. B has rows of kKernelCols valid elements, `b_stride` apart.
template <class T, Index kRows, Layout kLayout>
inline void KernelTile(Index k, T alpha, const T* a, Index a_stride, const T* b, Index b_stride, T beta, T* c,
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
  for (Index p = 0; p < k; ++p) {
    const Simd<T> b_left = LoadSimd(b + p * b_stride), b_right = LoadSimd(b + p * b_stride + kWidth);
#pragma GCC unroll 14
    for (Index i = 0; i < kRows; ++i) {
      const T value = kLayout == Layout::kPacked ? a[p * kKernelRows + i]
                      : kLayout == Layout::kRows ? a[i * a_stride + p]
                                                 : a[p * a_stride + i];
      left[i] += value * b_left;
      right[i] += value * b_right;
    }
  }
#pragma GCC unroll 14
  for (Index i = 0; i < kRows; ++i) {
    T* row = c + i * ldc;
    if (cols == kKernelCols<T>) {
      StoreSimd(row, beta == T(0) ? alpha * left[i] : alpha * left[i] + beta * LoadSimd(row));
      StoreSimd(row + kWidth,
                beta == T(0) ? alpha * right[i] : alpha * right[i] + beta * LoadSimd(row + kWidth));
      continue;
    }
    alignas(64) T edge[kKernelCols<T>] = {};
    if (beta != T(0)) std::copy(row, row + cols, edge);
    StoreSimd(edge, alpha * left[i] + beta * LoadSimd(edge));
    StoreSimd(edge + kWidth, alpha * right[i] + beta * LoadSimd(edge + kWidth));
    std::copy(edge, edge + cols, row);
  }
}

/// The same for any number of rows up to kKernelRows.
template <class T, Layout kLayout, Index kRows = kKernelRows>
inline void KernelRowsTile(Index rows, Index k, T alpha, const T* a, Index a_stride, const T* b,
                           Index b_stride, T beta, T* c, Index ldc, Index cols) {
  if constexpr (kRows > 0) {
    if (rows == kRows)
      return KernelTile<T, kRows, kLayout>(k, alpha, a, a_stride, b, b_stride, beta, c, ldc, cols);
    KernelRowsTile<T, kLayout, kRows - 1>(rows, k, alpha, a, a_stride, b, b_stride, beta, c, ldc, cols);
  }
}

}  // namespace dark
