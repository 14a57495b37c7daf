#pragma once

#include <string>

#include "sweeps/launcher.h"
#include "sweeps/signals.h"

namespace dark {

/// How the cores are divided for a whole sweep; results do not depend on it.
struct JobChoice {
  int threads = 1;           ///< a job; PlanJobs makes the jobs from it
  std::string why;           ///< a line or more for people; "" when there was nothing to choose
  bool interrupted = false;  ///< by a signal while measuring: start nothing
};

/// The choice as far as it is known already; measures and writes nothing. There is a choice only where
/// `options` leaves both jobs and threads open, names a timer, and allows more than one core; else `threads`
/// is that of PlanJobs. Throws Error(kUsage) when jobs × threads exceed the cores.
JobChoice StoredJobs(const Sweep& sweep, const SweepStore& store, const LaunchOptions& options);

/// The same after measuring what jobs.csv in the store's folder lacks, in that file from then on: a resumed
/// sweep keeps its choice. Measures only while that promises to take less than a fiftieth of the sweep. A
/// measurement that fails is a line in `why`, and PlanJobs decides. Needs the driver's lock and the trials'
/// folders.
JobChoice MeasuredJobs(const Sweep& sweep, const SweepStore& store, const LaunchOptions& options,
                       const SignalQueue& signals, Monitor& monitor);

}  // namespace dark
