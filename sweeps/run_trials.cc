#include "sweeps/run_trials.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>

#include "sweeps/running_jobs.h"
#include "sweeps/trial_command.h"
#include "sweeps/trial_queue.h"

namespace dark {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(100);

class Launcher {
 public:
  Launcher(const SweepStore& store, const LaunchOptions& options, const JobPlan& plan, Tally tally,
           const std::vector<const Trial*>& missing, Monitor& monitor)
      : store_(store),
        options_(options),
        plan_(plan),
        monitor_(monitor),
        tally_(tally),
        queue_(missing, store, options.lock_patience, monitor),
        jobs_(store, options, plan) {}

  Tally Run(const SignalQueue& signals) {
    while (true) {
      StartWhatFits();
      if (jobs_.empty() && queue_.size() == 0) break;
      const int signal = signals.Next(kPoll);
      if (signal != 0 && signal != SIGCHLD) Interrupt(signal);
      while (const auto ended = jobs_.Reap())
        End(*ended->trial, StatusAfter(*ended), ended->seconds, ended->log_start);
      monitor_.Tick([this] { return Take(); });
    }
    return tally_;
  }

 private:
  void StartWhatFits() {
    while (!jobs_.full()) {
      const auto ready = queue_.Next();
      if (!ready) return;
      Begin(*ready);
    }
  }

  void Begin(const ReadyTrial& ready) {
    const Trial& trial = *ready.trial;
    const std::string folder = store_.Folder(trial.name);
    if (ready.was_held) {  // its holder may have finished it, or never let go
      TrialStatus status = ReadTrial(folder);
      if (status.state == TrialState::kRunning) {
        status.state = TrialState::kFailed;
        status.reason = "another process holds its folder";
      }
      if (IsResult(status.state) || status.state == TrialState::kFailed) return End(trial, status, 0);
    }
    try {
      jobs_.Begin(trial);
    } catch (const Error& error) {
      TrialStatus status = ReadTrial(folder);
      status.state = TrialState::kFailed;
      status.reason = error.what();
      return End(trial, status, 0);
    }
    monitor_.Started(trial.name, tally_);
  }

  /// The folder says what became of a trial; the exit says why when the folder cannot.
  TrialStatus StatusAfter(const EndedJob& job) const {
    const int wait_status = job.wait_status;
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

  void End(const Trial& trial, const TrialStatus& status, double seconds, std::size_t log_start = 0) {
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
    monitor_.Note(
        FailureText(trial.name, status.reason, JobCommand(store_, options_, plan_, trial, {}), log_start));
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
    jobs_.Signal(SIGKILL);
  }

  void StopEarly() {
    if (stopping_) return;  // jobs may take a second request for an order to quit at once
    stopping_ = true;
    tally_.stopped += static_cast<int>(queue_.size());
    queue_.Clear();
    jobs_.Signal(SIGTERM);
  }

  Snapshot Take() {
    Snapshot snapshot;
    snapshot.tally = tally_;
    double longest = 0;
    double expected = 0;  // of a whole run, guessed from those that run when none has ended
    for (JobView& job : jobs_.Look()) {
      const double left = std::isnan(job.progress.seconds_left) ? 0 : job.progress.seconds_left;
      longest = std::max(longest, left);
      expected = std::max(expected, job.seconds + left);
      snapshot.running.push_back(std::move(job.progress));
    }
    if (results_ > 0) expected = result_seconds_ / results_;
    snapshot.seconds_left = longest + std::ceil(static_cast<double>(queue_.size()) / plan_.jobs()) * expected;
    if (stopping_ || (longest == 0 && results_ == 0))
      snapshot.seconds_left = std::numeric_limits<double>::quiet_NaN();
    return snapshot;
  }

  const SweepStore& store_;
  const LaunchOptions& options_;
  const JobPlan& plan_;
  Monitor& monitor_;
  Tally tally_;
  TrialQueue queue_;
  RunningJobs jobs_;
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
