#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sweeps/expand.h"

namespace dark {

/// Where a trial stands, read from its own folder only: there is no list that could disagree with the files.
enum class TrialState {
  kPlanned,      ///< no run file yet
  kRunning,      ///< a live process holds the folder's lock
  kInterrupted,  ///< was running, and its process is gone
  kStopped,      ///< saved and stopped before its end
  kDone,
  kDiverged,  ///< finished: a diverged run is a result
  kFailed,
};
const char* Name(TrialState state);  ///< "planned", "running", …
/// Whether `state` is a result that no later `sweep run` touches.
bool IsResult(TrialState state);

struct TrialStatus {
  TrialState state = TrialState::kPlanned;
  std::int64_t step = 0;  ///< optimiser steps done
  double loss = 0;        ///< of the last step, nats a token; NaN when there is none
  std::string reason;     ///< why it ended, or what is wrong with its file
};

/// Reads the state of a trial's folder, existing or not. A run file that cannot be read is a failed trial.
TrialStatus ReadTrial(const std::string& folder);

/// The folder of a sweep:
///
///     OUT/sweep.yaml    the sweep file as given
///     OUT/trials.json   name, overrides, and the names and ids of the runs it stands for
///     OUT/jobs.csv      what jobs × threads were measured to achieve (plan_table.h)
///     OUT/trials/NAME/  one run: config.yaml, log.txt and what the trainer writes
///     OUT/lock          held by the driver
///
/// Nothing in it names a path outside or an absolute one, so it can be moved.
class SweepStore {
 public:
  explicit SweepStore(std::string root) : root_(std::move(root)) {}

  const std::string& root() const { return root_; }
  std::string Folder(const std::string& trial_name) const;

  /// Renames trials of `sweep` that already have a folder after it. Names say what varies in a sweep, so they
  /// change when an axis is added; the id at their end does not.
  void AdoptNames(Sweep& sweep) const;
  /// Names of the folders that belong to no trial of `sweep`, sorted.
  std::vector<std::string> Strangers(const Sweep& sweep) const;
  /// Creates what is missing: folders, configs, sweep.yaml, trials.json. Needs the driver's lock. Throws
  /// Error(kFailed) for a config.yaml that is not the one its folder is named after.
  void Prepare(const Sweep& sweep) const;
  /// The trials.json of an existing sweep: its runs' names, in the order of the spec. Throws Error(kUsage)
  /// when `root` is no sweep's folder.
  std::vector<std::string> StoredNames() const;

 private:
  std::vector<std::string> FolderNames() const;

  std::string root_;
};

}  // namespace dark
