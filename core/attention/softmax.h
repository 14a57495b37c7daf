#pragma once

#include "core/attention/heads.h"
#include "core/tape/tape.h"

namespace dark {

/// Exact causal attention out_t = Σ_{s≤t} softmax_s(q_t·k_s) v_s on kernel inputs (already scaled by d^-1/4
/// each). Blocks of query rows against their whole prefix: memory O(T) per thread, never T×T. `v` has
/// value_heads heads; records one op and returns out [N × heads·value_dim].
template <class T>
Node<T>* SoftmaxAttention(Tape<T>& tape, const std::string& name, const HeadShape& shape, Node<T>* q,
                          Node<T>* k, Node<T>* v);

/// Query rows that share one block of scores.
inline constexpr Index kSoftmaxRows = 64;

/// Elements of the working memory of SoftmaxHead for `rows` rows.
template <class T>
Index SoftmaxScratch(Index rows, Index dim);

/// One head, forward: rows q [rows×dim], k, v [rows×value_dim] → out, and log_sum[t] = logsumexp_s q_t·k_s.
/// The reference of every random-feature probe.
template <class T>
void SoftmaxHead(Index rows, Index dim, Index value_dim, HeadView<const T> q, HeadView<const T> k,
                 HeadView<const T> v, HeadView<T> out, T* log_sum, T* scratch);

}  // namespace dark
