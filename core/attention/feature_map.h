#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/attention/heads.h"
#include "core/tape/tape.h"

namespace dark {

/// The gradient of a chunk's log φ.
template <class T>
struct LogFeatureGradient {
  const T* da;        ///< [rows × m]
  bool constant;      ///< whether LogFeatures' constant counts: where it cancels, a row of da adds up to 0
  Operands operands;  ///< of the products
};

/// A positive feature map φ with φ(q)·φ(k) estimating the kernel exp(q·k) of kernel inputs. It speaks in
/// logarithms: the causal machinery (feature_attention.h) subtracts scales so that every exponent is ≤ 0. Key
/// head g selects the map's own projection; queries use the map of the key head they read.
template <class T>
class FeatureMap {
 public:
  virtual ~FeatureMap() = default;

  /// m, features per head.
  virtual Index features() const = 0;
  /// Called on one thread before each forward pass: takes note of parameters and draws as they are now.
  virtual void Prepare() {}
  /// log φ_j(x_i) = a[i][j] + constant[i];  x [rows × dim] → a [rows × m], constant [rows], or nullptr where
  /// it cancels.
  virtual void LogFeatures(Index key_head, Index rows, HeadView<const T> x, T* a, T* constant) const = 0;
  /// dx = beta·dx + (∂log φ/∂x)ᵀ da, and adds the gradient of this head's parameters to `partial`.
  virtual void Backward(Index key_head, Index rows, HeadView<const T> x,
                        const LogFeatureGradient<T>& gradient, T beta, HeadView<T> dx, T* partial) const = 0;
  /// Elements of `partial`; 0 without parameters.
  virtual Index partial_size() const { return 0; }
  /// Adds a finished `partial` of key head g to the parameters' gradient, as an op does (Tape::Record).
  /// Called in a fixed order on one thread.
  virtual void AddPartial(Index /*key_head*/, const T* /*partial*/) {}
  /// Draws Ω anew; `count` numbers the draw, so that the same count gives the same Ω. Learned maps ignore it.
  virtual void Redraw(Index /*count*/) {}
  /// Groups of key heads that share draws.
  virtual Index sets() const { return 1; }
  /// Lets the draws of each set follow N(0, S) from now on, given its S^½ [dim × dim]; φ(q)·φ(k) keeps its
  /// mean.
  virtual void SetProposals(const std::vector<Eigen::MatrixXd>& /*roots*/) {}
  /// Ω, and what else the draws depend on, for the checkpoint; empty for learned maps.
  virtual std::span<T> omega() { return {}; }
};

}  // namespace dark
