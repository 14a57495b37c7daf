#pragma once

#include "core/attention/heads.h"
#include "core/tensor/matmul.h"

namespace dark {

/// Exact causal attention of one head of one sequence, by blocks of queries against blocks of keys: scores
/// exist for one pair of blocks at a time. Works on kernel inputs (already scaled by d^-1/4 each).
template <class T>
struct SoftmaxShape {
  Index rows, dim, value_dim;           ///< T, columns of a query or key, columns of a value
  Operands operands = Operands::kFull;  ///< of all products; exponentials and their sums are of T

  /// Elements of working memory for Forward or Backward, O(rows), to be aligned to a cache line.
  Index Scratch() const;
};

/// out_t = Σ_{s≤t} softmax_s(q_t·k_s) v_s with a running maximum and sum over the blocks of keys, and
/// log_sum[t] = logsumexp_{s≤t} q_t·k_s. The reference of every random-feature probe.
template <class T>
void SoftmaxForward(const SoftmaxShape<T>& shape, HeadView<const T> q, HeadView<const T> k,
                    HeadView<const T> v, HeadView<T> out, T* log_sum, T* scratch);

/// What the backward pass of a head reads and adds to.
template <class T>
struct SoftmaxGradients {
  HeadView<const T> q, k, v, out, dout;
  const T* log_sum;  ///< of the forward pass
  HeadView<T> dq, dk, dv;
  GradientBetas<T> beta;
};

/// With P = softmax(S), taken again from log_sum, and D_t = dout_t·out_t:
///   dS = P∘(dout·vᵀ − D),  dq += dS·k,  dk += dSᵀ·q,  dv += Pᵀ·dout
template <class T>
void SoftmaxBackward(const SoftmaxShape<T>& shape, const SoftmaxGradients<T>& x, T* scratch);

}  // namespace dark
