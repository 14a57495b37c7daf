#pragma once

#include <vector>

#include "core/attention/layer.h"
#include "core/model/options.h"
#include "core/ops.h"

namespace dark {

/// Shape of the batches a model is built for.
struct BatchShape {
  Index batch = 1;
  Index context = 1;
  Index vocab = 256;
};

/// Decoder-only Transformer: x ← x + attention(norm(x)), x ← x + mlp(norm(x)), final norm, (tied) output
/// layer. Parameters: embed [V×C], layer.i.attn_norm, layer.i.attn.{q [H·d×C], k, v [G·d×C], o [C×H·d]}, the
/// variant's own (layer.i.attn.M, layer.i.attn.W), layer.i.attn.{q_norm,k_norm} with qk_norm,
/// layer.i.mlp_norm, layer.i.mlp.{gate,up [F×C], down [C×F]}, final_norm, head [V×C] when untied. The
/// constructor records the tape; nothing large is allocated before Allocate().
template <class T>
class Model {
 public:
  Model(const ModelOptions& o, const AttentionOptions& attention, const BatchShape& shape, std::uint64_t seed,
        Operands operands = Operands::kFull);
  void Allocate();

  const BatchShape& shape() const { return shape_; }
  Parameters<T>& parameters() { return parameters_; }
  const Tape<T>& tape() const { return tape_; }
  /// Starts the ops' clocks anew (Tape::Profile).
  void ClearTimes() { tape_.ClearTimes(); }
  const std::vector<AttentionLayer<T>>& layers() const { return layers_; }

  /// Inputs and targets [batch × context]; targets −1 are not counted. The pointers must live through
  /// both passes.
  void SetBatch(const std::int32_t* inputs, const std::int32_t* targets);
  /// Loss sums of the batch.
  LossSums Forward();
  /// The same, and adds the gradient of scale · Σ loss to the parameters' gradients.
  LossSums ForwardBackward(double scale);
  /// One forward pass that also initialises what reads a calibration batch (whitening), layer by layer; none
  /// when nothing reads one.
  void Calibrate();
  /// Draws every Ω anew; `count` numbers the draw.
  void Redraw(Index count);
  std::vector<LayerHealth> Health() const;
  /// Logits [V] of the token after position `row` = b·context + t of the last Forward, soft cap applied.
  void NextLogits(Index row, std::vector<double>& logits) const;

 private:
  Node<T>* Block(Index index, Node<T>* x, const ModelOptions& o, const AttentionOptions& attention);
  Node<T>* Attention(Index index, Node<T>* normed, Node<T>* residual, const ModelOptions& o,
                     const AttentionOptions& attention);
  Node<T>* FeedForward(Index index, Node<T>* normed, Node<T>* residual, const ModelOptions& o);
  Node<T>* Norm(const std::string& name, Node<T>* x, Index width, const ModelOptions& o);

  BatchShape shape_;
  double logit_cap_;
  Parameters<T> parameters_;
  Tape<T> tape_;
  const std::int32_t* inputs_ = nullptr;
  LossPort<T> port_;
  std::vector<AttentionLayer<T>> layers_;
  Node<T>*final_ = nullptr, *head_ = nullptr;
};

/// Number of parameters of the model that these options describe.
Index CountParameters(const ModelOptions& model, const AttentionOptions& attention, Index vocab);

}  // namespace dark
