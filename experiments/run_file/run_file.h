#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "experiments/run_file/run_data.h"

namespace dark {

/// Reads a run from RUN.h5 or, when a journal stands beside it (a run that lives, was stopped or was killed),
/// from the journal, which then is the truth. Never writes. Safe beside a living writer: the result is what
/// was flushed at some moment. Throws Error(kFailed) with path and reason for a file that is no run file.
RunData ReadRun(const std::string& path);

/// Writes `run` as HDF5: to a temporary name, synced, renamed over `path`. A reader sees the old or the new
/// file.
void WriteRun(const std::string& path, const RunData& run);

/// Folds a journal left by a dead run into RUN.h5 (atomically) so that h5py and others see every flushed row,
/// then removes the journal. A run that died as `running` becomes `stopped`: it can be resumed. Returns
/// whether there was something to do. Takes the folder's RunLock, so it refuses while the run is alive.
bool RepairRun(const std::string& path);

/// ReadRun with repair on sight: first folds the journal of a dead run when the folder can be written to.
RunData ReadRepairedRun(const std::string& path);

/// Follows a run that may be alive. Each Poll reads only what was appended since the last; it starts again
/// when the journal was replaced (a resumed run) and turns to RUN.h5 once the journal is gone.
class RunFollower {
 public:
  explicit RunFollower(std::string path);
  RunFollower(RunFollower&&) noexcept;
  RunFollower& operator=(RunFollower&&) noexcept;
  ~RunFollower();
  /// The run as flushed by now; no attributes and no rows while the run has no file yet. The reference holds
  /// until the next Poll. Throws Error(kFailed) as ReadRun.
  const RunData& Poll();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The one writer of a run; whoever makes one holds the folder's RunLock. Rows go to an append-only journal
/// with a checksum per record (RUN.h5.journal). An Append flushes (write and fdatasync) when 256 rows are
/// waiting or the last flush is 2 s ago. Every failure throws Error(kFailed) with path and errno text; rows
/// that could not be written stay waiting, so a later Flush can succeed, and what was flushed stays readable.
class RunWriter {
 public:
  /// Starts a new run (replaces what stood at `path`) with status running and the time it `started`.
  static RunWriter Create(const std::string& path, const std::map<std::string, std::string>& attributes);
  /// Continues a run from its first `keep_steps` steps: rows with step >= keep_steps are dropped, so a step
  /// never appears twice (an evaluation stands before its step and is kept when equal); marks of the former
  /// end are removed.
  static RunWriter Resume(const std::string& path, std::int64_t keep_steps);
  RunWriter(RunWriter&&) noexcept;
  RunWriter& operator=(RunWriter&&) noexcept;
  /// Flushes what it can; a run that was not finished keeps its journal.
  ~RunWriter();

  /// Sets or replaces; text without NUL bytes.
  void SetAttribute(const std::string& name, const std::string& value);
  void Append(const StepRow& row);
  void Append(const EvalRow& row);
  void Append(const HealthRow& row);
  void Flush();
  /// Flushes, then folds all rows into RUN.h5 for readers that know only HDF5. A long run is folded again
  /// only when it grew by a tenth, so that snapshots at a fixed interval do not cost quadratic time.
  void Snapshot();
  /// Sets status, exit_reason and the time it `finished`, folds everything into RUN.h5 and removes the
  /// journal (but keeps it when the status is kStopped or kRunning). Nothing may be appended afterwards.
  void Finish(RunStatus status, const std::string& exit_reason);
  const RunData& data() const;

 private:
  struct State;
  explicit RunWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A run directory's lock: flock on DIR/lock, released by the kernel when the holder dies, so no lock is ever
/// stale. The file names pid, host, boot id and time for people. Throws Error(kFailed) naming the holder when
/// it is still held after half a second.
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
