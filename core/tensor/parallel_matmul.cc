#include <algorithm>

#include "core/tensor/arena.h"
#include "core/tensor/bf16_matmul.h"
#include "core/tensor/gemm_kernel.h"
#include "core/tensor/matmul.h"
#include "core/tensor/parallel.h"

namespace dark {
namespace {

// Elements of B that the team packs together; a larger one is packed by each thread, block by block.
constexpr Index kLargestShared = Index{1} << 23;
constexpr Index kFewestRows = 128;  // of a thread, for which packing B together pays

/// Runs `body(begin, end)` on at most `most` parts of [0, length), cut at multiples of `unit`.
template <class Body>
void ForParts(Index length, Index unit, Index most, const Body& body) {
  const Index units = (length + unit - 1) / unit, parts = std::min(most, units);
  ParallelFor(parts, [&](Index part) {
    body(part * units / parts * unit, std::min(length, (part + 1) * units / parts * unit));
  });
}

/// Memory of the thread that leads the team, as large as the largest operand so far.
template <class T>
T* SharedMemory(Index size) {
  thread_local Arena<T> memory;
  if (memory.size() < size) {
    T* data = nullptr;
    memory = Arena<T>();
    memory.Plan(&data, size);
    memory.Allocate();
  }
  return memory.data();
}

}  // namespace

template <class T>
void ParallelGemm(Op op_a, Op op_b, Index m, Index n, Index k, const OperandView<T>& a,
                  const OperandView<T>& b, T beta, T* c, Index ldc, Operands operands) {
  operands = SplitIfLarge(operands, m, n);
  const bool bf16 = kOwnBf16<T> && Bf16Terms(operands) > 0;
  const Index row_unit = bf16 ? kBf16Unit : kKernelRows, col_unit = bf16 ? kBf16Unit : kKernelCols<T>;
  const Index threads = ThreadCount();
  if (m < n) {
    return ForParts(n, col_unit, threads, [&](Index begin, Index end) {
      Gemm(op_a, op_b, m, end - begin, k, a, b.At(op_b, 0, begin), beta, c + begin, ldc, operands);
    });
  }
  const auto rows = [&](Index begin) { return a.At(op_a, begin, 0); };
  const Index size = PackedSize<T>(n, k);
  if (k == 0 || threads == 1 || m < kFewestRows * threads || n * k > kLargestShared) {
    return ForParts(m, row_unit, threads, [&](Index begin, Index end) {
      Gemm(op_a, op_b, end - begin, n, k, rows(begin), b, beta, c + begin * ldc, ldc, operands);
    });
  }
  const PackedB<T> packed{SharedMemory<T>(size), n, k, operands};
  ForParts(n, kPackedUnit, threads,
           [&](Index begin, Index end) { PackColumns(op_b, begin, end, b, packed); });
  // B is packed already, so that more parts repeat nothing: a slower thread does fewer of them.
  ForParts(m, row_unit, m >= 4 * kFewestRows * threads ? 4 * threads : threads, [&](Index begin, Index end) {
    Gemm(op_a, end - begin, n, k, rows(begin), packed, beta, c + begin * ldc, ldc);
  });
}
template void ParallelGemm(Op, Op, Index, Index, Index, const OperandView<float>&, const OperandView<float>&,
                           float, float*, Index, Operands);
template void ParallelGemm(Op, Op, Index, Index, Index, const OperandView<double>&,
                           const OperandView<double>&, double, double*, Index, Operands);

}  // namespace dark
