#include "core/tensor/matmul.h"

#include <Eigen/Core>
#include <algorithm>

#include <dnnl.h>
#include "core/tensor/parallel.h"

namespace dark {
namespace {

using StridedMap = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0,
                              Eigen::OuterStride<>>;

void MultiplyDouble(Op op_a, Op op_b, Index m, Index n, Index k, double alpha, const double* a, Index lda,
                    const double* b, Index ldb, double* c, Index ldc) {
  Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0, Eigen::OuterStride<>>
      out(c, m, n, Eigen::OuterStride<>(ldc));
  const bool ta = op_a == Op::kTranspose, tb = op_b == Op::kTranspose;
  const StridedMap left(a, ta ? k : m, ta ? m : k, Eigen::OuterStride<>(lda));
  const StridedMap right(b, tb ? n : k, tb ? k : n, Eigen::OuterStride<>(ldb));
  if (ta && tb) {
    out.noalias() += alpha * left.transpose() * right.transpose();
  } else if (ta) {
    out.noalias() += alpha * left.transpose() * right;
  } else if (tb) {
    out.noalias() += alpha * left * right.transpose();
  } else {
    out.noalias() += alpha * left * right;
  }
}

template <class T>
void ScaleRows(Index m, Index n, T beta, T* c, Index ldc) {
  for (Index i = 0; i < m; ++i) {
    T* row = c + i * ldc;
    if (beta == T(0)) {
      std::fill(row, row + n, T(0));
    } else if (beta != T(1)) {
      for (Index j = 0; j < n; ++j) row[j] *= beta;
    }
  }
}

}  // namespace

template <>
void Gemm<float>(Op op_a, Op op_b, Index m, Index n, Index k, float alpha, const float* a, Index lda,
                 const float* b, Index ldb, float beta, float* c, Index ldc) {
  if (k == 0) return ScaleRows(m, n, beta, c, ldc);
  dnnl_sgemm(op_a == Op::kTranspose ? 'T' : 'N', op_b == Op::kTranspose ? 'T' : 'N', m, n, k, alpha, a, lda,
             b, ldb, beta, c, ldc);
}

template <>
void Gemm<double>(Op op_a, Op op_b, Index m, Index n, Index k, double alpha, const double* a, Index lda,
                  const double* b, Index ldb, double beta, double* c, Index ldc) {
  ScaleRows(m, n, beta, c, ldc);
  MultiplyDouble(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, c, ldc);
}

template <class T>
void ParallelGemm(Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* a, Index lda, const T* b,
                  Index ldb, T beta, T* c, Index ldc) {
  // At most 256 rows keep the packed panels in cache; at least eighths give small matrices work for every
  // core.
  const Index tile = std::clamp<Index>((m / 8 + 15) / 16 * 16, 16, 256);
  ParallelBlocks(m, tile, [&](Index begin, Index end, Index) {
    const T* a_tile = op_a == Op::kTranspose ? a + begin : a + begin * lda;
    Gemm(op_a, op_b, end - begin, n, k, alpha, a_tile, lda, b, ldb, beta, c + begin * ldc, ldc);
  });
}
template void ParallelGemm(Op, Op, Index, Index, Index, float, const float*, Index, const float*, Index,
                           float, float*, Index);
template void ParallelGemm(Op, Op, Index, Index, Index, double, const double*, Index, const double*, Index,
                           double, double*, Index);

}  // namespace dark
