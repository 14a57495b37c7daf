#pragma once

#include <string>
#include <vector>

#include "core/optim/options.h"
#include "core/tape/parameters.h"
#include "core/tensor/parallel.h"

namespace dark {

/// What one update did. Norms are accumulated in double over fixed blocks, so they do not depend on threads.
struct UpdateStats {
  double grad_norm = 0;          ///< global L2 norm over trainable parameters, before clipping
  double grad_norm_clipped = 0;  ///< after it
  double update_rms = 0;         ///< root mean square change of trainable parameters
  double param_norm = 0;         ///< global L2 norm of all parameters after the update
  std::string bad_tensor;        ///< first tensor that is not finite ("grad <name>" or "<name>"), else empty
};

/// How one parameter trains; decided by name patterns.
struct ParameterRule {
  bool trainable;
  double decay;  ///< weight_decay or 0
  double lr_factor;
};
ParameterRule RuleFor(const OptimOptions& options, const std::string& name);

/// AdamW with decoupled weight decay: p ← p − lr·(m̂/(√v̂ + eps) + decay·p), bias-corrected moments, after
/// clipping the gradients to a global norm. A gradient that is not finite changes nothing and is reported.
template <class T>
class AdamW {
 public:
  /// Sets `trainable` on the parameters; throws Error when a pattern matches none.
  AdamW(const OptimOptions& options, Parameters<T>& parameters);

  UpdateStats Step(double lr);

  /// Steps done, for the bias correction; and the moments of each parameter (nullptr when frozen), for
  /// checkpoints.
  Index steps() const { return steps_; }
  void set_steps(Index steps) { steps_ = steps; }
  const std::vector<T*>& first_moments() const { return first_; }
  const std::vector<T*>& second_moments() const { return second_; }

 private:
  /// A part of one parameter: the task of a thread, and what it finds.
  struct Block {
    std::size_t parameter;
    Index begin, size;
    double gradient = 0, change = 0, value = 0;  ///< sums of squares; `value` after the update
  };
  /// What one update multiplies with.
  struct Factors {
    double lr;
    T clip, correct1, correct2;
  };

  const Node<T>& NodeOf(const Block& block) const { return parameters_.nodes()[block.parameter]; }
  /// Runs `body(block, its node)` on all blocks, by the whole team.
  template <class Body>
  void ForBlocks(const Body& body) {
    ParallelFor(static_cast<Index>(blocks_.size()), [&](Index i) {
      Block& block = blocks_[static_cast<std::size_t>(i)];
      body(block, NodeOf(block));
    });
  }
  double GradientNorm(std::string& bad_tensor);
  void Update(Block& block, const Node<T>& node, const Factors& factors);
  void Measure(UpdateStats& stats) const;

  OptimOptions options_;
  Parameters<T>& parameters_;
  std::vector<ParameterRule> rules_;
  Arena<T> moments_;  // aligned, so that vector loops round alike in every process
  std::vector<T*> first_, second_;
  std::vector<Block> blocks_;  // of all parameters, in order
  Index steps_ = 0;
};

}  // namespace dark
