#pragma once

#include <memory>

#include "core/attention/feature_map.h"

namespace dark {

/// What the normalisers of the last Forward looked like (channels of the run file).
struct NormaliserHealth {
  double min_denominator = 0;  ///< smallest Σ_s φ(q)·φ(k_s), relative to the row's scale
  Index underflow_rows = 0;    ///< rows whose normaliser was not above the smallest normal number: output 0
};

/// Bytes of features up to which a layer keeps them for its backward pass: so few stay in the caches.
inline constexpr Index kMostKeptFeatures = Index{4} << 20;

/// Causal random-feature attention in O(T·m·d) time and O(T·(m+d)) memory, by chunks:
///   out_t = Σ_{s≤t} φ(q_t)·φ(k_s) v_s / Σ_{s≤t} φ(q_t)·φ(k_s).
/// Scales run with the sequence: query t is divided by its largest feature, key s by its own largest feature
/// e^{c_s}, and row t by r_t = max_{s≤t} c_s, so that all exponents are ≤ 0 and no future key is ever read
/// (method.md rules 8 and 11). The scales cancel in the ratio and get no gradient. A normaliser that
/// underflows gives a zero row with zero gradient (rule 10). The backward recomputes chunk states, and
/// features unless they were so few that they were kept (rule 21). With a tape in bf16, log φ, exponentials,
/// states, sums and normalisers are of T; products of them round their operands. Where the processor
/// multiplies bfloat16 the features are always kept, as the products read them.
template <class T>
class FeatureAttention {
 public:
  /// Records the op; out [N × heads·value_dim]. What it keeps changes no bit.
  static std::shared_ptr<FeatureAttention> Record(Tape<T>& tape, const std::string& name,
                                                  const HeadShape& shape, std::shared_ptr<FeatureMap<T>> map,
                                                  Node<T>* q, Node<T>* k, Node<T>* v,
                                                  Index most_kept = kMostKeptFeatures);
  virtual ~FeatureAttention() = default;

  virtual Node<T>* out() const = 0;
  virtual FeatureMap<T>& map() const = 0;
  virtual NormaliserHealth Health() const = 0;
};

}  // namespace dark
