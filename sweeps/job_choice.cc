#include "sweeps/job_choice.h"

#include <fmt/format.h>

#include "sweeps/job_plan.h"
#include "sweeps/measure_split.h"
#include "sweeps/split_choices.h"

namespace dark {
namespace {

bool IsOpen(const LaunchOptions& options) {
  return options.jobs == 0 && options.threads == 0 && !options.timer.empty() && options.cores.Usable() > 1;
}

JobChoice Unasked(const Sweep& sweep, const LaunchOptions& options) {
  const int trials = static_cast<int>(sweep.trials.size());
  return {PlanJobs(options.cores, trials, options.jobs, options.threads).threads, "", false};
}

/// Returns false when a signal came.
bool Measure(SplitChoices& choices, const StepTimer& timer, const Cores& cores, const SignalQueue& signals,
             Monitor& monitor) {
  bool any = false;
  while (Split* split = choices.Next()) {
    if (!any)
      monitor.Note(
          fmt::format("measuring which jobs × threads train fastest, with {}", choices.heaviest().name));
    any = true;
    if (!MeasureSplit(timer, cores, signals, *split)) return false;
  }
  if (any) choices.Write();
  return true;
}

}  // namespace

JobChoice StoredJobs(const Sweep& sweep, const SweepStore& store, const LaunchOptions& options) {
  if (!IsOpen(options)) return Unasked(sweep, options);
  const SplitChoices choices(sweep, store, options.cores);
  JobChoice choice = choices.Choose();
  choice.why = choices.Table() + choice.why;
  return choice;
}

JobChoice MeasuredJobs(const Sweep& sweep, const SweepStore& store, const LaunchOptions& options,
                       const SignalQueue& signals, Monitor& monitor) {
  JobChoice choice = Unasked(sweep, options);
  if (!IsOpen(options)) return choice;
  try {
    SplitChoices choices(sweep, store, options.cores);
    const StepTimer timer = {options.timer, store.Folder(choices.heaviest().name) + "/config.yaml",
                             store.root() + "/timing", options.timer_patience};
    if (!Measure(choices, timer, options.cores, signals, monitor)) {
      choice.interrupted = true;
      monitor.Note("stopped while measuring; no run was started");
      return choice;
    }
    choice = choices.Choose();
  } catch (const Error& error) {
    choice.why = fmt::format("as many jobs as fit, because measuring failed: {}", error.what());
  }
  monitor.Note(choice.why);
  return choice;
}

}  // namespace dark
