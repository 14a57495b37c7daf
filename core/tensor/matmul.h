#pragma once

#include "core/setting.h"

namespace dark {

enum class Op { kNone, kTranspose };

/// C[m×n] = alpha · op(A)[m×k] · op(B)[k×n] + beta · C on one thread; row-major with leading dimensions in
/// elements. float goes to oneDNN, double to Eigen. Call it from inside ParallelFor when the team has more
/// than one thread.
template <class T>
void Gemm(Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* a, Index lda, const T* b, Index ldb,
          T beta, T* c, Index ldc);

/// The same on the whole team, split into row tiles of C whose size depends on the shape alone, so that the
/// result is bit-identical for any number of threads.
template <class T>
void ParallelGemm(Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* a, Index lda, const T* b,
                  Index ldb, T beta, T* c, Index ldc);

}  // namespace dark
