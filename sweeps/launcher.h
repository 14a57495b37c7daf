#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "sweeps/cores.h"
#include "sweeps/expand.h"
#include "sweeps/monitor.h"
#include "sweeps/store.h"

namespace dark {

struct LaunchOptions {
  /// Path of the program and its first arguments; a trial adds CONFIG --out FOLDER --resume --threads N.
  std::vector<std::string> trainer;
  /// Path of a program that times steps and its first arguments (StepTimer); empty = jobs are not measured.
  std::vector<std::string> timer;
  Cores cores;
  int jobs = 0;     ///< trials at once, 0 = choose
  int threads = 0;  ///< threads a trial, 0 = choose (job_choice.h)
  bool retry_failed = false;
  bool stop_on_error = false;
  double lock_patience = 60;    ///< seconds to wait for a trial that an earlier driver's job still holds
  double timer_patience = 300;  ///< seconds after which a timer counts as hung
};

/// Runs what is missing of `sweep` in `store`, each trial a process of its own, until all is run or a signal
/// comes. Done and diverged trials are left alone, failed ones unless `retry_failed`. The first SIGINT,
/// SIGTERM or SIGHUP asks the jobs to save and stop and waits for them; the second kills them. May rename
/// trials of `sweep` after their existing folders. Returns where all trials of the sweep stand. Throws
/// Error(kFailed) when another driver is at work in the same folder or the disk is too small, Error(kUsage)
/// when jobs × threads exceed the cores.
Tally RunSweep(Sweep& sweep, const SweepStore& store, const LaunchOptions& options, Monitor& monitor);

/// 0 all done, 3 some diverged, 4 some failed, 5 stopped before the end; a failure that `stop_on_error` made
/// the end counts as 4.
Exit ExitFor(const Tally& tally, bool stop_on_error);

}  // namespace dark
