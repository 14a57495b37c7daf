#pragma once

#include <string>

#include "core/model/model.h"
#include "core/optim/adamw.h"
#include "data/batches.h"
#include "data/dataset.h"
#include "experiments/config/run_config.h"
#include "experiments/run_file/run_data.h"
#include "experiments/training/state.h"

namespace dark {

/// Where and why a run stopped being finite.
struct Divergence {
  std::string tensor;  ///< the first bad tensor in forward order, then gradients, then parameters
  std::string reason;
};

/// The numbers of one run: model, optimiser and batches, without files. One call of Step is one optimiser
/// step; all that it does is a function of (config, data, counters).
template <class T>
class Trainer {
 public:
  Trainer(const RunConfig& config, const Dataset& data);

  /// Reads the first batch to initialise what needs calibration (whitening). Once, before the first step.
  void Calibrate();
  /// One optimiser step: `accumulate` micro-batches, each token weighted alike, then AdamW at the scheduled
  /// rate. When the loss, a gradient or a parameter is not finite, `divergence` says so and the row is still
  /// filled.
  StepRow Step(Divergence& divergence);
  /// Loss and accuracy over the fixed validation windows; Ω and the counters stay as they are.
  EvalRow Evaluate();
  /// Health of every layer on the last batch that went forward.
  std::vector<HealthRow> Health() const;

  Model<T>& model() { return model_; }
  AdamW<T>& optimizer() { return optimizer_; }
  const Counters& counters() const { return counters_; }
  Checkpoint Save() { return SaveState(model_, optimizer_, counters_); }
  void Restore(const Checkpoint& checkpoint, const std::string& path) {
    counters_ = RestoreState(checkpoint, path, model_, optimizer_);
  }

 private:
  void RedrawIfDue();
  Index ReadBatches();
  double ForwardBackward(Index tokens);

  RunConfig config_;
  Dataset data_;
  Model<T> model_;
  AdamW<T> optimizer_;
  BatchStream stream_;
  EvalWindows windows_;
  Counters counters_;
  std::vector<Batch> batches_;  // of one optimiser step
  Batch eval_batch_;
};

}  // namespace dark
