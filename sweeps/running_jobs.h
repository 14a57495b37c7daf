#pragma once

#include <sys/types.h>

#include <list>
#include <optional>
#include <vector>

#include "core/clock.h"
#include "sweeps/job_plan.h"
#include "sweeps/launcher.h"
#include "sweeps/process.h"
#include "sweeps/progress.h"

namespace dark {

/// What is left of a process that ran a trial.
struct EndedJob {
  const Trial* trial;
  int wait_status;  ///< of waitpid
  double seconds;
  std::size_t log_start;  ///< bytes of the log that earlier attempts wrote
};

/// A running job as a table shows it.
struct JobView {
  Progress progress;
  double seconds;  ///< since it started
};

/// The processes of a sweep that run now, each on CPUs of its own.
class RunningJobs {
 public:
  RunningJobs(const SweepStore& store, const LaunchOptions& options, const JobPlan& plan);

  bool full() const { return free_slots_.empty(); }
  bool empty() const { return jobs_.empty(); }
  std::size_t size() const { return jobs_.size(); }

  /// Starts a trial; there must be room. Throws Error(kFailed) when its process or log cannot be had.
  void Begin(const Trial& trial);
  /// A job that has ended, if there is one.
  std::optional<EndedJob> Reap();
  /// Sends `signal` to all jobs and what they started.
  void Signal(int signal) const;
  std::vector<JobView> Look();

 private:
  struct Job {
    const Trial* trial;
    std::size_t slot;
    pid_t pid;
    Clock::time_point start;
    std::size_t log_start;
    ProgressFollower progress;
  };

  const SweepStore& store_;
  const LaunchOptions& options_;
  const JobPlan& plan_;
  std::list<Job> jobs_;
  std::vector<std::size_t> free_slots_;
};

/// How a trial is run on `cpus`, or anywhere when there are none.
Command JobCommand(const SweepStore& store, const LaunchOptions& options, const JobPlan& plan,
                   const Trial& trial, const std::vector<int>& cpus);

}  // namespace dark
