#pragma once

#include <string>

#include "experiments/run_file/run_file.h"
#include "sweeps/monitor.h"

namespace dark {

/// Follows the run file of one running trial.
class ProgressFollower {
 public:
  ProgressFollower(const Trial& trial, const std::string& folder);
  /// What is known by now; speed and time left follow from the last steps only.
  Progress Poll();

 private:
  Progress progress_;
  RunFollower follower_;
};

}  // namespace dark
