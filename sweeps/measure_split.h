#pragma once

#include <string>
#include <vector>

#include "sweeps/cores.h"
#include "sweeps/plan_table.h"
#include "sweeps/signals.h"

namespace dark {

/// For how long a timer takes steps, unless a few of them last longer.
constexpr double kTimerSeconds = 1;

/// A program that times training steps and prints their tokens/s last.
struct StepTimer {
  std::vector<std::string> program;  ///< its path and first arguments
  std::string config;                ///< path of the run config whose steps it times
  std::string folder;                ///< for what it prints; made, and removed with all that is in it
  double patience = 300;             ///< seconds after which it counts as hung
};

/// Fills in what `split` achieves, by timing steps in all its jobs at once, each on its own CPUs as
/// program CONFIG --threads N --seconds 1 --rate. Returns false when a signal came, and no process is left.
/// Throws Error(kFailed) with the reason when one of them fails, hangs or prints no number.
bool MeasureSplit(const StepTimer& timer, const Cores& cores, const SignalQueue& signals, Split& split);

}  // namespace dark
