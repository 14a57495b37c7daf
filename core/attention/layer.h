#pragma once

#include <memory>
#include <string>

#include "core/attention/feature_attention.h"
#include "core/attention/geometry.h"
#include "core/attention/options.h"

namespace dark {

/// What a variant is built from: the projected heads of one layer, before scaling and RoPE.
template <class T>
struct AttentionContext {
  Tape<T>& tape;
  Parameters<T>& parameters;
  std::string name;  ///< "layer.3.attn": prefix of parameters, activations and streams
  AttentionOptions options;
  HeadShape shape;   ///< key_heads = value_heads = G, dim = value_dim = d
  double rope_base;  ///< 0 = no rotation
  Node<T>*q, *k, *v;
  Index most_kept_features = kMostKeptFeatures;
};

/// Health of one layer on the batch of the last Forward; NaN where the variant has no such thing.
struct LayerHealth {
  double mx2;           ///< E‖Mx‖² over queries and keys
  double kernel_error;  ///< ‖out − exact‖/‖exact‖ against exact attention with the layer's own kernel
  double min_denominator;  ///< smallest relative normaliser
  double underflow_rows;
  double sigma_min, sigma_max;        ///< eigenvalues of Σ
  double anisotropy_q, anisotropy_k;  ///< of queries and keys before M, mean over heads
};

/// One layer's attention, as a composition of parts. The kernel sees `q` and `k`: scaled, rotated and mapped
/// by M.
template <class T>
struct AttentionLayer {
  HeadShape shape;            ///< of q, k, v as the kernel sees them
  Node<T>*input_q, *input_k;  ///< scaled and rotated, before M
  Node<T>*q, *k, *v, *out;
  std::shared_ptr<Geometry<T>> geometry;          ///< null: M = I
  std::shared_ptr<FeatureAttention<T>> features;  ///< null: exact or uniform
  bool uniform = false;

  /// The unnormalised weight of one (query, key) pair of kernel inputs under query head h: φ(q)·φ(k),
  /// exp(q·k) or 1. Attention is defined by it: out_t = Σ_{s≤t} Weight(q_t, k_s) v_s / Σ_{s≤t} Weight(q_t,
  /// k_s).
  double Weight(Index head, const T* query, const T* key) const;
  LayerHealth Health() const;
};

/// Scales by d^-1/4 and rotates: the kernel inputs of a variant without M.
template <class T>
AttentionLayer<T> PlainInputs(const AttentionContext<T>& context);
/// The same with M before or after the rotation, calibrated in a preparing forward pass when init is
/// whitening.
template <class T>
AttentionLayer<T> GeometryInputs(const AttentionContext<T>& context);

/// Completes `layer` with causal attention over positive random features; `learned` makes Ω a parameter.
template <class T>
void AttendWithFeatures(const AttentionContext<T>& context, bool learned, AttentionLayer<T>& layer);

}  // namespace dark
