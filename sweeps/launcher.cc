#include "sweeps/launcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/files/file.h"
#include "experiments/run_file/run_file.h"
#include "sweeps/disk.h"
#include "sweeps/job_choice.h"
#include "sweeps/job_plan.h"
#include "sweeps/run_trials.h"
#include "sweeps/signals.h"

namespace dark {
namespace {

/// Counts what is there already and lists what is to run.
std::vector<const Trial*> Missing(const Sweep& sweep, const SweepStore& store, bool retry_failed,
                                  Tally& tally) {
  std::vector<const Trial*> missing;
  tally.total = static_cast<int>(sweep.trials.size());
  for (const Trial& trial : sweep.trials) {
    const TrialState state = ReadTrial(store.Folder(trial.name)).state;
    if (state == TrialState::kDone)
      ++tally.done;
    else if (state == TrialState::kDiverged)
      ++tally.diverged;
    else if (state == TrialState::kFailed && !retry_failed)
      ++tally.failed;
    else
      missing.push_back(&trial);
  }
  return missing;
}

void NoteStrangers(const std::vector<std::string>& strangers, Monitor& monitor) {
  if (strangers.empty()) return;
  std::string text =
      fmt::format("{} trials here are not in this sweep and are left alone:", strangers.size());
  for (std::size_t i = 0; i < std::min<std::size_t>(strangers.size(), 5); ++i) text += "\n  " + strangers[i];
  if (strangers.size() > 5) text += fmt::format("\n  and {} more", strangers.size() - 5);
  monitor.Note(text);
}

}  // namespace

Tally RunSweep(Sweep& sweep, const SweepStore& store, const LaunchOptions& options, Monitor& monitor) {
  // Wishes that cannot be met are refused before anything is written.
  PlanJobs(options.cores, static_cast<int>(sweep.trials.size()), options.jobs, options.threads);
  MakeFolders(store.root());
  const RunLock lock(store.root());
  store.AdoptNames(sweep);
  for (const std::string& notice : sweep.notices) monitor.Note(notice);
  NoteStrangers(store.Strangers(sweep), monitor);
  store.Prepare(sweep);

  Tally tally;
  const std::vector<const Trial*> missing = Missing(sweep, store, options.retry_failed, tally);
  if (tally.failed > 0)
    monitor.Note(fmt::format("{} trials failed earlier; --retry failed runs them again", tally.failed));
  if (missing.empty()) return tally;
  const SignalQueue signals;
  // Threads follow from the whole sweep, not from what is left of it: a resumed run keeps its number.
  const JobChoice choice = MeasuredJobs(sweep, store, options, signals, monitor);
  if (choice.interrupted) {
    tally.stopped = static_cast<int>(missing.size());
    return tally;
  }
  const JobPlan plan =
      PlanJobs(options.cores, static_cast<int>(missing.size()), options.jobs, choice.threads);
  RequireSpace(store.root(), EstimateSweepBytes(missing, plan.jobs()));
  monitor.Note(fmt::format("{} of {} trials to run in {}: {} jobs × {} threads", missing.size(),
                           sweep.trials.size(), store.root(), plan.jobs(), plan.threads));
  return RunTrials(missing, store, options, plan, tally, signals, monitor);
}

Exit ExitFor(const Tally& tally, bool stop_on_error) {
  if (tally.stopped > 0 && !(stop_on_error && tally.failed > 0)) return Exit::kStopped;
  if (tally.failed > 0) return Exit::kFailed;
  return tally.diverged > 0 ? Exit::kDiverged : Exit::kOk;
}

}  // namespace dark
