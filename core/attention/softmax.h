#pragma once

#include "core/attention/heads.h"
#include "core/tape/tape.h"

namespace dark {

/// Exact causal attention out_t = Σ_{s≤t} softmax_s(q_t·k_s) v_s on kernel inputs (already scaled by d^-1/4
/// each). Memory O(T) per thread, never T×T. `v` has value_heads heads; records one op and returns out
/// [N × heads·value_dim].
template <class T>
Node<T>* SoftmaxAttention(Tape<T>& tape, const std::string& name, const HeadShape& shape, Node<T>* q,
                          Node<T>* k, Node<T>* v);

}  // namespace dark
