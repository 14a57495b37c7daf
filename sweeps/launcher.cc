#include "sweeps/launcher.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <limits>
#include <list>
#include <optional>

#include "core/files/file.h"
#include "experiments/run_file/run_file.h"
#include "sweeps/disk.h"
#include "sweeps/job_plan.h"
#include "sweeps/process.h"
#include "sweeps/progress.h"
#include "sweeps/signals.h"
#include "sweeps/trial_command.h"

namespace dark {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPoll = std::chrono::milliseconds(100);

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

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

  Tally Run() {
    const SignalQueue signals;
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
  // Threads follow from the whole sweep, not from what is left of it: a resumed run keeps its number.
  const JobPlan whole =
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
  const JobPlan plan = PlanJobs(options.cores, static_cast<int>(missing.size()), options.jobs, whole.threads);
  RequireSpace(store.root(), EstimateSweepBytes(missing, plan.jobs()));
  monitor.Note(fmt::format("{} of {} trials to run in {}: {} jobs × {} threads", missing.size(),
                           sweep.trials.size(), store.root(), plan.jobs(), plan.threads));
  return Launcher(store, options, plan, tally, missing, monitor).Run();
}

Exit ExitFor(const Tally& tally, bool stop_on_error) {
  if (tally.stopped > 0 && !(stop_on_error && tally.failed > 0)) return Exit::kStopped;
  if (tally.failed > 0) return Exit::kFailed;
  return tally.diverged > 0 ? Exit::kDiverged : Exit::kOk;
}

}  // namespace dark
