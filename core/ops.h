#pragma once

#include "core/tape/parameters.h"
#include "core/tape/tape.h"

namespace dark {

// Every op of the model outside attention. Each call records one op on the tape and returns its output. N =
// B·T tokens in rows; activations are row-major. Formulas stand here, gradients beside the loops in
// core/ops/*.cc.

/// y[n] = scale · E[token[n]];  E [V×C]. `*tokens` points to N ids below V at Forward time.
template <class T>
Node<T>* Embedding(Tape<T>& tape, Node<T>* table, const std::int32_t* const* tokens, Index count, T scale);

/// y = x·Wᵀ (+ residual);  x [N×I], W [O×I], y and residual [N×O].
template <class T>
Node<T>* Linear(Tape<T>& tape, const std::string& name, Node<T>* x, Node<T>* weight,
                Node<T>* residual = nullptr);

/// RMSNorm over groups of w.size() columns (the whole row, or each head):
/// y = x · (mean(x²) + eps)^-1/2 · g, with gain g = w, or 1 + w when `one_plus`.
template <class T>
Node<T>* RmsNorm(Tape<T>& tape, const std::string& name, Node<T>* x, Node<T>* weight, T eps, bool one_plus);

/// Rotary embedding with half-split pairs, times a constant: for head size d, pair (j, j + d/2), position t
/// and θ = t · base^(-2j/d):  (y₁, y₂) = scale · (x₁cosθ − x₂sinθ, x₂cosθ + x₁sinθ).  base 0 scales only.
template <class T>
Node<T>* Rope(Tape<T>& tape, const std::string& name, Node<T>* x, Index context, Index head_dim, double base,
              T scale);

enum class Gate { kGelu, kSilu };

/// y = act(gate) ∘ up;  act is tanh-GELU (GeGLU) or SiLU (SwiGLU).
template <class T>
Node<T>* Gated(Tape<T>& tape, const std::string& name, Node<T>* gate, Node<T>* up, Gate act);

/// Sums of one pass over the output layer; kept in double and summed in token order.
struct LossSums {
  double loss = 0;    ///< nats, summed over counted tokens
  Index correct = 0;  ///< counted tokens whose largest logit is the target
  Index tokens = 0;   ///< targets that are not -1
};

/// What the output layer reads and writes beside the tape.
template <class T>
struct LossPort {
  const std::int32_t* targets = nullptr;  ///< N ids, -1 = not counted
  T scale = 1;                            ///< gradient of the objective with respect to each token's loss
  bool training = false;  ///< a Backward follows each Forward: it takes the loss too, from the same logits
  LossSums sums;          ///< of the last Forward, or when training of the last Backward
};

/// Output layer and cross-entropy by token blocks, so that the V-wide logits of a whole batch never exist:
/// z = x·Wᵀ, soft-capped to c·tanh(z/c) when c > 0;  loss_n = logsumexp(z_n) − z_n[target].
template <class T>
void CrossEntropy(Tape<T>& tape, Node<T>* x, Node<T>* weight, T cap, LossPort<T>* port);

}  // namespace dark
