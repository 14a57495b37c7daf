#pragma once

#include <vector>

#include "sweeps/job_plan.h"
#include "sweeps/launcher.h"
#include "sweeps/signals.h"

namespace dark {

/// Runs `trials`, each a process of its own, on the CPUs of `plan`, until all have ended or a signal comes
/// (RunSweep says what signals do). `tally` counts what ended earlier; returns it with what ended here. The
/// caller holds the driver's lock and has written the trials' folders.
Tally RunTrials(const std::vector<const Trial*>& trials, const SweepStore& store,
                const LaunchOptions& options, const JobPlan& plan, Tally tally, const SignalQueue& signals,
                Monitor& monitor);

}  // namespace dark
