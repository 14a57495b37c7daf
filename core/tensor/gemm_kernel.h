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

/// C = beta·C + the sums, kRows × kVectors registers of them.
template <class T, Index kRows, Index kVectors>
inline void StoreTile(const Simd<T> (&sums)[kRows][kVectors], T beta, T* c, Index ldc) {
#pragma GCC unroll 14
  for (Index i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (Index v = 0; v < kVectors; ++v) {
      T* const at = c + i * ldc + v * kLanes<T>;
      StoreSimd(at, beta == T(0) ? sums[i][v] : FusedMultiplyAdd(beta, LoadSimd(at), sums[i][v]));
    }
  }
}

/// One tile of C, `kRows` × `cols` (at most kVectors registers):  C = beta·C + A·B over k products. Each
/// element is one chain of fused multiply-adds in the order of p, wherever its tile begins: results do not
/// depend on how a matrix was cut. B has rows of kVectors registers of valid elements, `b_stride` apart.
template <class T, Index kRows, Index kVectors, Layout kLayout>
inline void KernelTile(Index k, const T* a, Index a_stride, const T* b, Index b_stride, T beta, T* c,
                       Index ldc, Index cols) {
  constexpr Index kWidth = kLanes<T>, kCols = kVectors * kWidth;
  Simd<T> sums[kRows][kVectors];
#pragma GCC unroll 14
  for (Index i = 0; i < kRows; ++i) {
    for (Index v = 0; v < kVectors; ++v) sums[i][v] = Simd<T>{};
    // C's rows stand in as many pages, where the processor does not look ahead by itself.
    __builtin_prefetch(c + i * ldc);
    __builtin_prefetch(c + i * ldc + cols - 1);
  }
#pragma GCC unroll 4  // a row of p at a time leaves too little between two branches
  for (Index p = 0; p < k; ++p) {
    Simd<T> right[kVectors];
    for (Index v = 0; v < kVectors; ++v) right[v] = LoadSimd(b + p * b_stride + v * kWidth);
#pragma GCC unroll 14
    for (Index i = 0; i < kRows; ++i) {
      const T left = kLayout == Layout::kPacked ? a[p * kKernelRows + i]
                     : kLayout == Layout::kRows ? a[i * a_stride + p]
                                                : a[p * a_stride + i];
#pragma GCC unroll 2
      for (Index v = 0; v < kVectors; ++v) sums[i][v] = FusedMultiplyAdd(left, right[v], sums[i][v]);
    }
  }
  if (cols == kCols) return StoreTile(sums, beta, c, ldc);
  alignas(64) T edge[kRows * kCols] = {};
  for (Index i = 0; i < kRows; ++i) std::copy(c + i * ldc, c + i * ldc + cols, edge + i * kCols);
  StoreTile(sums, beta, edge, kCols);
  for (Index i = 0; i < kRows; ++i) std::copy(edge + i * kCols, edge + i * kCols + cols, c + i * ldc);
}

/// The same for any number of rows up to kKernelRows and of columns up to kKernelCols.
template <class T, Layout kLayout, Index kRows = kKernelRows>
inline void KernelRowsTile(Index rows, Index k, const T* a, Index a_stride, const T* b, Index b_stride,
                           T beta, T* c, Index ldc, Index cols) {
  if constexpr (kRows > 0) {
    if (rows == kRows) {
      const auto tile =
          cols <= kLanes<T> ? KernelTile<T, kRows, 1, kLayout> : KernelTile<T, kRows, 2, kLayout>;
      return tile(k, a, a_stride, b, b_stride, beta, c, ldc, cols);
    }
    KernelRowsTile<T, kLayout, kRows - 1>(rows, k, a, a_stride, b, b_stride, beta, c, ldc, cols);
  }
}

}  // namespace dark
