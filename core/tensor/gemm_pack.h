#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstring>

#include "core/tensor/bf16.h"
#include "core/tensor/gemm_kernel.h"
#include "core/tensor/matmul.h"
#include "core/tensor/round_up.h"

namespace dark {

/// out[p·stride + i] = x[i·ldx + p] for i < rows, p < depth: rows become columns. Blocks of a register's
/// width are transposed in registers.
template <class T>
void PackTransposed(Index rows, Index depth, const T* x, Index ldx, T* out, Index stride) {
  constexpr Index kWidth = kLanes<T>;
  using Packet = typename Eigen::internal::packet_traits<T>::type;
  Index i = 0;
  for (; i + kWidth <= rows; i += kWidth) {
    Index p = 0;
    for (; p + kWidth <= depth; p += kWidth) {
      Eigen::internal::PacketBlock<Packet, kWidth> block;
      for (Index r = 0; r < kWidth; ++r)
        block.packet[r] = Eigen::internal::ploadu<Packet>(x + (i + r) * ldx + p);
      Eigen::internal::ptranspose(block);
      for (Index r = 0; r < kWidth; ++r)
        Eigen::internal::pstoreu(out + (p + r) * stride + i, block.packet[r]);
    }
    for (; p < depth; ++p)
      for (Index r = i; r < i + kWidth; ++r) out[p * stride + r] = x[r * ldx + p];
  }
  for (; i < rows; ++i)
    for (Index p = 0; p < depth; ++p) out[p * stride + i] = x[i * ldx + p];
}

/// Panels of kWidth rows (or, for `transposed` x, columns) of x, k-major: out[panel][p][i]. The last is
/// filled up with zeros to a multiple of kUnit, which divides kWidth. Of A panels are of kKernelRows, all
/// whole; of B of kKernelCols, the last of as many registers as it needs.
template <class T, Index kWidth, Index kUnit>
void CopyPanels(bool transposed, Index count, Index depth, const T* x, Index ldx, T* out) {
  const Index whole = count / kWidth * kWidth, rest = RoundUp(count - whole, kUnit);
  T* const last = out + whole * depth;
  std::fill(last, last + rest * depth, T(0));
  if (!transposed) {
    for (Index i = 0; i < count; i += kWidth)
      PackTransposed(std::min(kWidth, count - i), depth, x + i * ldx, ldx, out + i * depth,
                     i < whole ? kWidth : rest);
    return;
  }
  // A few rows of x at a time: a panel fills whole cache lines from them, and its neighbours find what they
  // need in the lines that it has read.
  constexpr Index kRows = 16;
  for (Index begin = 0; begin < depth; begin += kRows) {
    const Index end = std::min(begin + kRows, depth);
    for (Index i = 0; i < whole; i += kWidth)
      for (Index p = begin; p < end; ++p)
        std::memcpy(out + i * depth + p * kWidth, x + p * ldx + i, kWidth * sizeof(T));
    for (Index p = begin; p < end && rest > 0; ++p)
      std::copy(x + p * ldx + whole, x + p * ldx + count, last + p * rest);
  }
}

/// The same, in the precision in which a product reads its operands.
template <class T, Index kWidth, Index kUnit>
void PackPanels(bool transposed, Index count, Index depth, const T* x, Index ldx, Operands operands, T* out) {
  CopyPanels<T, kWidth, kUnit>(transposed, count, depth, x, ldx, out);
  RoundOperands(operands, out, RoundUp(count, kUnit) * depth);
}

}  // namespace dark
