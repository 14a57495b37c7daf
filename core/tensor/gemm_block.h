#pragma once

#include <algorithm>

#include "core/tensor/gemm_kernel.h"
#include "core/tensor/matmul.h"

namespace dark {

/// A product with its operands as given.
template <class T>
struct Product {
  Op op_a, op_b;
  Index m, n, k;
  OperandView<T> a, b;
  T beta;
  T* c;
  Index ldc;
  Operands operands;
  Causal causal;
};

/// Columns of op(B): in place, or packed in panels of kKernelCols columns, of which the last has as many
/// registers a row as it needs.
template <class T>
struct RightPanels {
  const T* data;
  Index stride = 0;           ///< from product to product in place; 0 for packed columns, of which there are
  Index cols = 0, depth = 0;  ///< so many, and so many products

  struct Panel {
    const T* data;
    Index stride;
  };
  /// What begins at product p and column j, a multiple of kKernelCols.
  Panel At(Index p, Index j) const {
    if (stride > 0) return {data + p * stride + j, stride};
    const Index width = VectorsOf<T>(cols - j) * kLanes<T>;
    return {data + j * depth + p * width, width};
  }
};

/// Rows of op(A), in place or packed in panels of kKernelRows rows.
template <class T, Layout kLayout>
struct LeftRows {
  const T* data;
  Index stride;  ///< from row to row of A; of packed rows, products

  /// What begins at row i and product p; of packed rows i is a multiple of kKernelRows.
  const T* At(Index i, Index p) const {
    if (kLayout == Layout::kColumns) return data + p * stride + i;
    return data + i * stride + (kLayout == Layout::kPacked ? p * kKernelRows : p);
  }
};

/// Rows [row, row + rows) and columns [col, col + cols) of C, products [from, from + depth).
template <class T>
struct Block {
  Index row, rows, col, cols, from, depth;
  T beta;
  RightPanels<T> right;
};

/// Columns [begin, end) of a block, by tiles as wide as they are together or the widest. A tile's rows of A
/// stay in the first level while B passes by, and C is written along its rows: they stand in as many pages,
/// and a processor knows few pages of stores.
template <class T, Layout kLayout>
void MultiplyColumns(const Product<T>& x, const Block<T>& block, const LeftRows<T, kLayout>& left,
                     Index begin, Index end) {
  const Index height = TileRows(kLayout, VectorsOf<T>(end - begin));
  for (Index i = 0; i < block.rows; i += height) {
    const Index rows = std::min(height, block.rows - i), row = block.row + i;
    const auto range = x.causal.Products(x.op_a == Op::kTranspose, row, row + rows, x.k);
    const Index first = std::clamp<Index>(range.begin - block.from, 0, block.depth),
                depth = std::clamp<Index>(range.end - block.from, first, block.depth) - first,
                wanted = std::min(end, x.causal.Columns(row + rows, x.n) - block.col);
    for (Index j = begin; j < wanted; j += kKernelCols<T>) {
      const Index vectors = VectorsOf<T>(wanted - j), cols = std::min(vectors * kLanes<T>, end - j);
      const auto b = block.right.At(first, j);
      KernelOf<T, kLayout>(rows, vectors)(depth, left.At(i, first), left.stride, b.data, b.stride, block.beta,
                                          x.c + row * x.ldc + block.col + j, x.ldc, cols);
    }
  }
}

/// The last columns have tiles of their own, with more rows where they take fewer registers.
template <class T, Layout kLayout>
void MultiplyBlock(const Product<T>& x, const Block<T>& block, const LeftRows<T, kLayout>& left) {
  const Index whole = block.cols / kKernelCols<T> * kKernelCols<T>;
  if (whole > 0) MultiplyColumns(x, block, left, 0, whole);
  if (whole < block.cols) MultiplyColumns(x, block, left, whole, block.cols);
}

}  // namespace dark
