#include "core/model/model.h"

#include <fmt/format.h>

#include <cmath>

#include "core/attention/variants.h"
#include "core/tensor/bf16.h"

namespace dark {

template <class T>
Model<T>::Model(const ModelOptions& o, const AttentionOptions& attention, const BatchShape& shape,
                std::uint64_t seed, Operands operands)
    : shape_(shape), logit_cap_(o.logit_cap), parameters_(seed), tape_(operands) {
  Node<T>* embed = parameters_.AddNormal("embed", shape.vocab, o.width, o.init_std);
  const double scale = o.embed_scale ? std::sqrt(static_cast<double>(o.width)) : 1;
  Node<T>* x = Embedding(tape_, embed, &inputs_, shape.batch * shape.context, static_cast<T>(scale));
  for (Index i = 0; i < o.layers; ++i) x = Block(i, x, o, attention);
  final_ = Norm("final_norm", x, o.width, o);
  head_ = o.tied ? embed : parameters_.AddNormal("head", shape.vocab, o.width, o.init_std);
  CrossEntropy(tape_, final_, head_, static_cast<T>(o.logit_cap), &port_);
}

template <class T>
void Model<T>::Allocate() {
  parameters_.Allocate();
  tape_.Allocate();
}

template <class T>
Node<T>* Model<T>::Norm(const std::string& name, Node<T>* x, Index width, const ModelOptions& o) {
  const bool one_plus = o.norm == "one-plus-w";
  Node<T>* gain = parameters_.AddVector(name, width, one_plus ? 0 : 1);
  return RmsNorm(tape_, name + ".out", x, gain, static_cast<T>(o.norm_eps), one_plus);
}

template <class T>
Node<T>* Model<T>::Block(Index index, Node<T>* x, const ModelOptions& o, const AttentionOptions& attention) {
  const std::string layer = fmt::format("layer.{}", index);
  x = Attention(index, Norm(layer + ".attn_norm", x, o.width, o), x, o, attention);
  return FeedForward(index, Norm(layer + ".mlp_norm", x, o.width, o), x, o);
}

// Layers that write to the residual stream start smaller by √(2·layers), so that its variance does not grow
// with depth.
static double ResidualStd(const ModelOptions& o) {
  return o.init_std / std::sqrt(2.0 * static_cast<double>(o.layers));
}

template <class T>
Node<T>* Model<T>::Attention(Index index, Node<T>* normed, Node<T>* residual, const ModelOptions& o,
                             const AttentionOptions& attention) {
  const std::string name = fmt::format("layer.{}.attn", index);
  const auto project = [&](const std::string& part, Index heads) {
    Node<T>* weight = parameters_.AddNormal(name + "." + part, heads * o.head_dim, o.width, o.init_std);
    return Linear(tape_, name + "." + part + ".out", normed, weight);
  };
  Node<T>* q = project("q", o.heads);
  Node<T>* k = project("k", o.kv_heads);
  Node<T>* v = project("v", o.kv_heads);
  if (o.qk_norm) {
    q = Norm(name + ".q_norm", q, o.head_dim, o);
    k = Norm(name + ".k_norm", k, o.head_dim, o);
  }
  const HeadShape heads{shape_.batch, shape_.context, o.heads,   o.kv_heads,
                        o.kv_heads,   o.head_dim,     o.head_dim};
  layers_.push_back(BuildAttention<T>({tape_, parameters_, name, attention, heads, o.rope_base, q, k, v}));
  Node<T>* out = parameters_.AddNormal(name + ".o", o.width, o.heads * o.head_dim, ResidualStd(o));
  return Linear(tape_, name + ".residual", layers_.back().out, out, residual);
}

template <class T>
Node<T>* Model<T>::FeedForward(Index index, Node<T>* normed, Node<T>* residual, const ModelOptions& o) {
  const std::string name = fmt::format("layer.{}.mlp", index);
  Node<T>* gate = parameters_.AddNormal(name + ".gate", o.ff, o.width, o.init_std);
  Node<T>* up = parameters_.AddNormal(name + ".up", o.ff, o.width, o.init_std);
  Node<T>* down = parameters_.AddNormal(name + ".down", o.width, o.ff, ResidualStd(o));
  Node<T>* hidden =
      Gated(tape_, name + ".hidden", Linear(tape_, name + ".gate.out", normed, gate),
            Linear(tape_, name + ".up.out", normed, up), o.activation == "geglu" ? Gate::kGelu : Gate::kSilu);
  return Linear(tape_, name + ".residual", hidden, down, residual);
}

template <class T>
void Model<T>::SetBatch(const std::int32_t* inputs, const std::int32_t* targets) {
  inputs_ = inputs;
  port_.targets = targets;
}

template <class T>
LossSums Model<T>::Forward() {
  tape_.Forward();
  return port_.sums;
}

template <class T>
LossSums Model<T>::ForwardBackward(double scale) {
  port_.scale = static_cast<T>(scale);
  port_.training = true;
  tape_.Forward();
  tape_.Backward();
  port_.training = false;
  return port_.sums;
}

template <class T>
void Model<T>::Calibrate() {
  if (tape_.Prepares()) tape_.Forward(/*prepare=*/true);
}

template <class T>
void Model<T>::Redraw(Index count) {
  for (const AttentionLayer<T>& layer : layers_) {
    if (layer.features != nullptr) layer.features->map().Redraw(count);
  }
}

template <class T>
std::vector<LayerHealth> Model<T>::Health() const {
  std::vector<LayerHealth> health;
  for (const AttentionLayer<T>& layer : layers_) health.push_back(layer.Health());
  return health;
}

template <class T>
void Model<T>::NextLogits(Index row, std::vector<double>& logits) const {
  Eigen::Matrix<T, Eigen::Dynamic, 1> values;
  const auto read = [&](const Node<T>& node, Index i, Eigen::VectorXd& out) {  // as the output layer reads it
    values = node.Value().row(i).transpose();
    RoundOperands(tape_.operands(), values.data(), values.size());
    out = values.template cast<double>();
  };
  Eigen::VectorXd hidden, weight;  // both keep their memory from row to row
  read(*final_, row, hidden);
  logits.resize(static_cast<std::size_t>(shape_.vocab));
  for (Index v = 0; v < shape_.vocab; ++v) {
    read(*head_, v, weight);
    const double z = weight.dot(hidden);
    logits[static_cast<std::size_t>(v)] = logit_cap_ > 0 ? logit_cap_ * std::tanh(z / logit_cap_) : z;
  }
}

template class Model<float>;
template class Model<double>;

Index CountParameters(const ModelOptions& model, const AttentionOptions& attention, Index vocab) {
  return Model<float>(model, attention, {1, 1, vocab}, 0).parameters().count();
}

}  // namespace dark
