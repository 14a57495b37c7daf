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

/// Rows [row, row + rows) and columns [col, col + cols) of C, products [from, from + depth).
template <class T>
struct Block {
  Index row, rows, col, cols, from, depth;
  T beta;
  const T* b = nullptr;  ///< B[from][col], packed or in place
  Index b_stride = 0, b_panel = 0;
};

/// A block's rows of op(A), packed or in place: tiles of kKernelRows rows `tile` elements apart, products
/// `step`.
template <class T>
struct LeftTiles {
  const T* data;
  Index stride;  ///< as the kernel's layout has it
  Index tile, step;
};

/// A tile's rows of A stay in the first level while B passes by, and C is written along its rows: they stand
/// in as many pages, and a processor knows few pages of stores.
template <class T, Layout kLayout>
void MultiplyBlock(const Product<T>& x, const Block<T>& block, const LeftTiles<T>& left) {
  for (Index i = 0; i < block.rows; i += kKernelRows) {
    const Index rows = std::min(kKernelRows, block.rows - i), row = block.row + i;
    const auto [begin, end] = x.causal.Products(x.op_a == Op::kTranspose, row, row + rows, x.k);
    const Index first = std::clamp<Index>(begin - block.from, 0, block.depth),
                depth = std::clamp<Index>(end - block.from, first, block.depth) - first,
                cols = std::min(block.cols, x.causal.Columns(row + rows, x.n) - block.col);
    const T* const a = left.data + i / kKernelRows * left.tile + first * left.step;
    for (Index j = 0; j < cols; j += kKernelCols<T>) {
      const T* const b = block.b + j / kKernelCols<T> * block.b_panel + first * block.b_stride;
      KernelRowsTile<T, kLayout>(rows, depth, a, left.stride, b, block.b_stride, block.beta,
                                 x.c + row * x.ldc + block.col + j, x.ldc,
                                 std::min(kKernelCols<T>, block.cols - j));
    }
  }
}

}  // namespace dark
