#pragma once

#include <memory>

#include "core/attention/variants.h"
#include "tests/core/backward.h"

namespace dark::testing {

/// One attention layer alone on a tape, with q, k, v as parameters and the objective Σ c∘out for fixed random
/// c.
template <class T>
struct AttentionHarness {
  Parameters<T> parameters;
  Tape<T> tape;
  Node<T>*q, *k, *v;
  AttentionLayer<T> layer;
  std::vector<T> direction;
  double objective = 0;

  AttentionHarness(const AttentionOptions& options, const HeadShape& heads, double input_std = 1,
                   double rope_base = 10000, std::uint64_t seed = 7, Operands operands = Operands::kFull,
                   Index most_kept_features = kMostKeptFeatures)
      : parameters(seed), tape(operands) {
    q = parameters.AddNormal("in.q", heads.tokens(), heads.heads * heads.dim, input_std);
    k = parameters.AddNormal("in.k", heads.tokens(), heads.value_heads * heads.dim, input_std);
    v = parameters.AddNormal("in.v", heads.tokens(), heads.value_heads * heads.value_dim, 1);
    layer = BuildAttention<T>(
        {tape, parameters, "layer.0.attn", options, heads, rope_base, q, k, v, most_kept_features});
    direction.resize(static_cast<std::size_t>(layer.out->size()));
    Stream(seed, "direction").Normals(std::span<T>(direction));
    tape.Record(
        {"test", {}, {}}, {layer.out},
        [this] {
          objective = 0;
          for (std::size_t i = 0; i < direction.size(); ++i)
            objective += static_cast<double>(direction[i]) * static_cast<double>(layer.out->value[i]);
        },
        [this] {
          layer.out->StartGradient();
          for (std::size_t i = 0; i < direction.size(); ++i) layer.out->grad[i] += direction[i];
        });
    parameters.Allocate();
    tape.Allocate();
    if (options.proposal != "isotropic") Forward(/*prepare=*/true);
  }
  AttentionHarness(const AttentionHarness&) = delete;
  AttentionHarness& operator=(const AttentionHarness&) = delete;

  double Forward(bool prepare = false) {
    tape.Forward(prepare);
    return objective;
  }
  void Backward() { BackwardAnew(parameters, tape); }
  std::vector<Node<T>*> Nodes() {
    std::vector<Node<T>*> nodes;
    for (Node<T>& node : parameters.nodes()) nodes.push_back(&node);
    return nodes;
  }
  /// Of all nodes, one after the other.
  std::vector<T> Gradients() {
    std::vector<T> all;
    for (const Node<T>* node : Nodes()) all.insert(all.end(), node->grad, node->grad + node->size());
    return all;
  }
};

}  // namespace dark::testing
