#pragma once

#include <memory>
#include <string>

#include "experiments/run_file/run_data.h"

namespace dark {

/// Reads a run from RUN.h5 and, when a journal stands beside it (a run that lives or was killed), from the
/// journal, which then is the truth. Never writes. Throws Error(kFailed) with path and reason for a file that
/// is no run file.
RunData ReadRun(const std::string& path);

/// Writes `run` as HDF5: to a temporary name, synced, renamed over `path`. A reader sees the old or the new
/// file.
void WriteRun(const std::string& path, const RunData& run);

/// Folds a journal left by a dead run into RUN.h5 (atomically) so that h5py and others see every flushed row.
/// Returns whether there was something to do. Refuses while the run is alive (RunLock held).
bool RepairRun(const std::string& path);

/// The one writer of a run. Rows go to an append-only journal with a checksum per record (RUN.h5.journal),
/// flushed every 256 rows or 2 s; `Snapshot` folds all rows into RUN.h5; `Finish` folds, sets status and
/// removes the journal (unless the status is kStopped or kRunning). Every failure throws Error(kFailed) with
/// path and errno text.
class RunWriter {
 public:
  /// Starts a new run (replaces what stood at `path`), or continues one from its first `keep_steps` steps:
  /// rows with step >= keep_steps (evaluations and health: > keep_steps) are dropped, so a step never appears
  /// twice.
  static RunWriter Create(const std::string& path, const std::map<std::string, std::string>& attributes);
  static RunWriter Resume(const std::string& path, std::int64_t keep_steps);
  RunWriter(RunWriter&&) noexcept;
  RunWriter& operator=(RunWriter&&) noexcept;
  ~RunWriter();

  void SetAttribute(const std::string& name, const std::string& value);
  void Append(const StepRow& row);
  void Append(const EvalRow& row);
  void Append(const HealthRow& row);
  void Flush();
  void Snapshot();
  void Finish(RunStatus status, const std::string& exit_reason);
  const RunData& data() const;

 private:
  struct State;
  explicit RunWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A run directory's lock: flock on DIR/lock, released by the kernel when the holder dies, so no lock is ever
/// stale. The file names pid, host and boot id for people. Throws Error(kFailed) naming the holder when held.
class RunLock {
 public:
  explicit RunLock(const std::string& directory);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  /// Whether some process holds the lock of `directory`; a directory without a lock file is free.
  static bool Held(const std::string& directory);

 private:
  int fd_ = -1;
};

}  // namespace dark
