#pragma once

#include <memory>

#include "core/attention/heads.h"
#include "core/attention/options.h"
#include "core/tape/parameters.h"

namespace dark {

/// The learned geometry M of the kernel exp(q'Σk), Σ = MᵀM (paper section 4): one matrix M [r×d] for each of
/// `sets` groups of heads, the parameter `<name>.M` [sets·r × d]. Applying it as an op of its own, x → Mx,
/// turns every kernel on Mx into its data-aware form and makes darkformer = M + performer, darkformer-exact =
/// M + exact. (Folding ΩM once a step would save r·d of about 6·m·d multiplications a query and cost the norm
/// term an r·d of its own.)
template <class T>
class Geometry {
 public:
  Geometry(Parameters<T>& parameters, const std::string& name, const AttentionOptions& options, Index heads,
           Index kv_heads, Index head_dim);

  Index rank() const { return rank_; }
  /// Heads of the mapped keys: kv_heads, or heads when every query head has its own M.
  Index key_heads() const { return sets_ == heads_ ? heads_ : kv_heads_; }

  /// Records x → Mx for queries and keys. `input_scale` is what the inputs still have to be multiplied with
  /// to become kernel inputs (d^-1/4 before RoPE, 1 after it): calibration sees the scaled ones (method.md
  /// rule 2).
  Node<T>* MapQueries(Tape<T>& tape, const std::string& name, Node<T>* q);
  Node<T>* MapKeys(Tape<T>& tape, const std::string& name, Node<T>* k);
  /// Sets M = s·Λ^-1/2 from the queries and keys that now stand in `q` and `k`, Λ pooled within queries and
  /// within keys (rule 17). Throws Error when there are too few samples or no variance.
  void Calibrate(const Node<T>& q, const Node<T>& k, double input_scale);

  /// Smallest and largest eigenvalue of Σ over all sets; with r < d the smallest is 0.
  std::pair<double, double> SigmaRange() const;

 private:
  Node<T>* Map(Tape<T>& tape, const std::string& name, Node<T>* x, Index heads_in, Index heads_out);

  AttentionOptions options_;
  Index heads_, kv_heads_, dim_, rank_, sets_;
  Node<T>* m_;
};

}  // namespace dark
