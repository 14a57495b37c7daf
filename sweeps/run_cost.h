#pragma once

#include <string>
#include <vector>

#include "sweeps/expand.h"

namespace dark {

/// Everything in a config that decides how long one of its steps takes, as text: equal texts, equal steps.
std::string StepShape(const RunConfig& config);

/// The work of a sweep, as if all of it were steps of one run.
struct SweepLoad {
  const Trial* heaviest;  ///< the run with the most operations, in the sweep given
  /// For each trial, in order: the tokens that `heaviest` would train on in the same time, were operations
  /// all that takes time.
  std::vector<double> tokens;
  double flops_per_token = 0;  ///< operations of `heaviest`
};

/// Counts the operations (Work::flops, forward and backward) of the runs by recording their models, each
/// shape once. `sweep` must have a trial.
SweepLoad LoadOf(const Sweep& sweep);

}  // namespace dark
