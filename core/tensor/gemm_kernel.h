#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "core/tensor/simd.h"

namespace dark {

/// Registers of a row of B that the widest tile reads, and the columns of C that they are.
inline constexpr Index kKernelVectors = kSimdBytes == 64 ? 4 : 2;
template <class T>
inline constexpr Index kKernelCols = kKernelVectors* kLanes<T>;
/// Registers that `cols` columns need, at most those of the widest tile.
template <class T>
constexpr Index VectorsOf(Index cols) {
  return std::min(kKernelVectors, (cols + kLanes<T> - 1) / kLanes<T>);
}
/// Rows of A that stand together in a packed panel, and those of the widest tile.
inline constexpr Index kKernelRows = 6;

/// How the kernel finds A[i][p]: in a packed panel, or where it stands.
enum class Layout { kPacked, kRows, kColumns };

/// Rows of the tallest tile.
inline constexpr Index kMostRows = kSimdBytes == 64 ? 14 : kKernelRows;

/// Rows of C that a tile of so many registers a row holds: of 16 (AVX) registers 12 are sums; of 32 (AVX-512)
/// 24 to 28, or 14 for one register a row, which wait for each other less than fewer would.
constexpr Index TileRows(Layout layout, Index vectors) {
  if (kSimdBytes != 64 || layout == Layout::kPacked || vectors == 4) return kKernelRows;
  return vectors == 3 ? 9 : kMostRows;
}

/// C = beta·C + the sums, kRows × kVectors registers of them.
template <class T, Index kRows, Index kVectors>
inline void StoreTile(const Simd<T> (&sums)[kRows][kVectors], T beta, T* c, Index ldc) {
#pragma GCC unroll 14
  for (Index i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
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
    // C's rows stand in as many pages, where the processor does not look ahead by itself.
    for (Index v = 0; v < kVectors; ++v) {
      sums[i][v] = Simd<T>{};
      __builtin_prefetch(c + i * ldc + v * kWidth);
    }
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
#pragma GCC unroll 4
      for (Index v = 0; v < kVectors; ++v) sums[i][v] = FusedMultiplyAdd(left, right[v], sums[i][v]);
    }
  }
  if (cols == kCols) return StoreTile(sums, beta, c, ldc);
  alignas(64) T edge[kRows * kCols] = {};
  for (Index i = 0; i < kRows; ++i) std::copy(c + i * ldc, c + i * ldc + cols, edge + i * kCols);
  StoreTile(sums, beta, edge, kCols);
  for (Index i = 0; i < kRows; ++i) std::copy(edge + i * kCols, edge + i * kCols + cols, c + i * ldc);
}

template <class T>
using TileKernel = void (*)(Index k, const T* a, Index a_stride, const T* b, Index b_stride, T beta, T* c,
                            Index ldc, Index cols);

/// Entry (vectors − 1)·kMostRows + rows − 1 of the table below; none where registers do not suffice.
template <class T, Layout kLayout, Index kEntry>
constexpr TileKernel<T> KernelAt() {
  constexpr Index kRows = kEntry % kMostRows + 1, kVectors = kEntry / kMostRows + 1;
  if constexpr (kRows > TileRows(kLayout, kVectors))
    return nullptr;
  else
    return KernelTile<T, kRows, kVectors, kLayout>;
}

/// The kernel of a tile of `rows` rows, at most TileRows of so many `vectors`.
template <class T, Layout kLayout>
TileKernel<T> KernelOf(Index rows, Index vectors) {
  static constexpr auto kKernels = []<Index... kEntry>(std::integer_sequence<Index, kEntry...>) {
    return std::array{KernelAt<T, kLayout, kEntry>()...};
  }
  (std::make_integer_sequence<Index, kKernelVectors * kMostRows>{});
  return kKernels[static_cast<std::size_t>((vectors - 1) * kMostRows + rows - 1)];
}

}  // namespace dark
