#include "sweeps/run_trials.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <list>
#include <optional>

#include "core/clock.h"
#include "experiments/run_file/run_file.h"
#include "sweeps/process.h"
#include "sweeps/progress.h"
#include "sweeps/signals.h"
#include "sweeps/trial_command.h"

namespace dark {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(100);

struct Pending {
  const Trial* trial;
  std::optional<Clock::time_point> held_since;  // first seen with its lock held by someone else
};

struct Job {
  const Trial* trial;
  std::size_t slot;
  pid_t pid;
  Clock::time_point start;
  std::size_t log_start;  // bytes of the log that earlier attempts wrote
  ProgressFollower progress;
};

class Launcher {
 public:
  Launcher(const SweepStore& store, const LaunchOptions& options, const JobPlan& plan, Tally tally,
           const std::vector<const Trial*>& missing, Monitor& monitor)
      : store_(store), options_(options), plan_(plan), monitor_(monitor), tally_(tally) {
    for (const Trial* trial : missing) pending_.push_back({trial, {}});
    for (std::size_t slot = plan.cpus.size(); slot-- > 0;) free_slots_.push_back(slot);
  }

  Tally Run(const SignalQueue& signals) {
    while (true) {
      StartWhatFits();
      if (jobs_.empty() && pending_.empty()) break;
      const int signal = signals.Next(kPoll);
      if (signal != 0 && signal != SIGCHLD) Interrupt(signal);
      Reap();
      monitor_.Tick([this] { return Take(); });
    }
    return tally_;
  }

 private:
  void StartWhatFits() {
    while (!free_slots_.empty()) {
      const auto ready = std::find_if(pending_.begin(), pending_.end(), [this](Pending& pending) {
        return !RunLock::Held(store_.Folder(pending.trial->name)) || !Wait(pending);
      });
      if (ready == pending_.end()) return;
      const Pending pending = *ready;
      pending_.erase(ready);
      Begin(pending);
    }
  }

  /// Whether to go on waiting for a trial whose lock is held: as a rule by a job of a driver that was killed,
  /// which saves and ends soon.
  bool Wait(Pending& pending) const {
    if (!pending.held_since) {
      pending.held_since = Clock::now();
      monitor_.Note(fmt::format("{} is still held by an earlier process; waiting up to {:.0f} s for it",
                                pending.trial->name, options_.lock_patience));
    }
    return SecondsSince(*pending.held_since) < options_.lock_patience;
  }

  void Begin(const Pending& pending) {
    const Trial& trial = *pending.trial;
    const std::string folder = store_.Folder(trial.name);
    if (pending.held_since) {  // its holder may have finished it, or never let go
      TrialStatus status = ReadTrial(folder);
      if (status.state == TrialState::kRunning) {
        status.state = TrialState::kFailed;
        status.reason = "another process holds its folder";
      }
      if (IsResult(status.state) || status.state == TrialState::kFailed) return End(trial, status, 0);
    }
    const std::size_t slot = free_slots_.back();
    try {
      const Command command = CommandFor(trial, plan_.cpus[slot]);
      const std::size_t log_start = BeginLog(command);
      const pid_t pid = Start(command);
      jobs_.push_back({&trial, slot, pid, Clock::now(), log_start, ProgressFollower(trial, folder)});
    } catch (const Error& error) {
      TrialStatus status = ReadTrial(folder);
      status.state = TrialState::kFailed;
      status.reason = error.what();
      return End(trial, status, 0);
    }
    free_slots_.pop_back();
    monitor_.Started(trial.name, tally_);
  }

  Command CommandFor(const Trial& trial, const std::vector<int>& cpus) const {
    return TrialCommand(options_.trainer, store_.Folder(trial.name), plan_.threads, cpus);
  }

  void Reap() {
    for (auto job = jobs_.begin(); job != jobs_.end();) {
      int wait_status = 0;
      if (waitpid(job->pid, &wait_status, WNOHANG) != job->pid) {
        ++job;
        continue;
      }
      const Job ended = std::move(*job);
      job = jobs_.erase(job);
      free_slots_.push_back(ended.slot);
      End(*ended.trial, StatusAfter(ended, wait_status), SecondsSince(ended.start), &ended);
    }
  }

  /// The folder says what became of a trial; the exit says why when the folder cannot.
  TrialStatus StatusAfter(const Job& job, int wait_status) const {
    TrialStatus status = ReadTrial(store_.Folder(job.trial->name));
    if (IsResult(status.state)) return status;
    const bool saved = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == static_cast<int>(Exit::kStopped);
    if (saved || (stopping_ && WIFSIGNALED(wait_status))) {
      status.state = TrialState::kStopped;
      return status;
    }
    status.state = TrialState::kFailed;
    const std::string exit = DescribeExit(wait_status);
    status.reason = status.reason.empty() ? exit : fmt::format("{}: {}", exit, status.reason);
    return status;
  }

  void End(const Trial& trial, const TrialStatus& status, double seconds, const Job* job = nullptr) {
    if (status.state == TrialState::kDone) ++tally_.done;
    if (status.state == TrialState::kDiverged) ++tally_.diverged;
    if (status.state == TrialState::kFailed) ++tally_.failed;
    if (status.state == TrialState::kStopped) ++tally_.stopped;
    if (IsResult(status.state)) {
      result_seconds_ += seconds;
      ++results_;
    }
    monitor_.Finished(trial.name, status, tally_, seconds);
    if (status.state != TrialState::kFailed) return;
    monitor_.Note(FailureText(trial.name, status.reason, CommandFor(trial, {}), job ? job->log_start : 0));
    if (options_.stop_on_error) StopEarly();
  }

  void Interrupt(int signal) {
    if (!interrupted_) {
      interrupted_ = true;
      monitor_.Note(fmt::format("{}: {} running trials save and stop; once more kills them",
                                signal == SIGINT ? "interrupted" : "told to stop", jobs_.size()));
      StopEarly();
      return;
    }
    for (const Job& job : jobs_) kill(-job.pid, SIGKILL);
  }

  void StopEarly() {
    if (stopping_) return;  // jobs may take a second request for an order to quit at once
    stopping_ = true;
    tally_.stopped += static_cast<int>(pending_.size());
    pending_.clear();
    for (const Job& job : jobs_) kill(-job.pid, SIGTERM);
  }

  Snapshot Take() {
    Snapshot snapshot;
    snapshot.tally = tally_;
    double longest = 0;
    double expected = 0;  // of a whole run, guessed from those that run when none has ended
    for (Job& job : jobs_) {
      snapshot.running.push_back(job.progress.Poll());
      const double left = snapshot.running.back().seconds_left;
      longest = std::max(longest, std::isnan(left) ? 0 : left);
      expected = std::max(expected, SecondsSince(job.start) + (std::isnan(left) ? 0 : left));
    }
    if (results_ > 0) expected = result_seconds_ / results_;
    snapshot.seconds_left =
        longest + std::ceil(static_cast<double>(pending_.size()) / plan_.jobs()) * expected;
    if (stopping_ || (longest == 0 && results_ == 0))
      snapshot.seconds_left = std::numeric_limits<double>::quiet_NaN();
    return snapshot;
  }

  const SweepStore& store_;
  const LaunchOptions& options_;
  const JobPlan& plan_;
  Monitor& monitor_;
  Tally tally_;
  std::deque<Pending> pending_;
  std::list<Job> jobs_;
  std::vector<std::size_t> free_slots_;
  bool interrupted_ = false;  // by a signal
  bool stopping_ = false;     // for whatever reason: nothing starts, jobs were told to save
  double result_seconds_ = 0;
  int results_ = 0;
};

}  // namespace

Tally RunTrials(const std::vector<const Trial*>& trials, const SweepStore& store,
                const LaunchOptions& options, const JobPlan& plan, Tally tally, const SignalQueue& signals,
                Monitor& monitor) {
  return Launcher(store, options, plan, tally, trials, monitor).Run(signals);
}

}  // namespace dark
