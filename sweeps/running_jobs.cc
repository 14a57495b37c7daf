#include "sweeps/running_jobs.h"

#include <sys/wait.h>

#include <csignal>

#include "sweeps/trial_command.h"

namespace dark {

RunningJobs::RunningJobs(const SweepStore& store, const LaunchOptions& options, const JobPlan& plan)
    : store_(store), options_(options), plan_(plan) {
  for (std::size_t slot = plan.cpus.size(); slot-- > 0;) free_slots_.push_back(slot);
}

void RunningJobs::Begin(const Trial& trial) {
  const std::size_t slot = free_slots_.back();
  const Command command = JobCommand(store_, options_, plan_, trial, plan_.cpus[slot]);
  const std::size_t log_start = BeginLog(command);
  const pid_t pid = Start(command);
  jobs_.push_back(
      {&trial, slot, pid, Clock::now(), log_start, ProgressFollower(trial, store_.Folder(trial.name))});
  free_slots_.pop_back();
}

std::optional<EndedJob> RunningJobs::Reap() {
  for (auto job = jobs_.begin(); job != jobs_.end(); ++job) {
    int wait_status = 0;
    if (waitpid(job->pid, &wait_status, WNOHANG) != job->pid) continue;
    const EndedJob ended = {job->trial, wait_status, SecondsSince(job->start), job->log_start};
    free_slots_.push_back(job->slot);
    jobs_.erase(job);
    return ended;
  }
  return {};
}

void RunningJobs::Signal(int signal) const {
  for (const Job& job : jobs_) kill(-job.pid, signal);
}

std::vector<JobView> RunningJobs::Look() {
  std::vector<JobView> views;
  for (Job& job : jobs_) views.push_back({job.progress.Poll(), SecondsSince(job.start)});
  return views;
}

Command JobCommand(const SweepStore& store, const LaunchOptions& options, const JobPlan& plan,
                   const Trial& trial, const std::vector<int>& cpus) {
  return TrialCommand(options.trainer, store.Folder(trial.name), plan.threads, cpus);
}

}  // namespace dark
