#include "sweeps/measure_split.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <charconv>
#include <cmath>
#include <csignal>
#include <filesystem>

#include "core/clock.h"
#include "core/error.h"
#include "core/files/file.h"
#include "sweeps/job_plan.h"
#include "sweeps/log_file.h"
#include "sweeps/process.h"
#include "sweeps/trial_command.h"

namespace dark {
namespace {

/// The jobs of one measurement. Whatever ends it, none of them outlives it.
class TimerJobs {
 public:
  TimerJobs(const StepTimer& timer, const Cores& cores, const Split& split) : folder_(timer.folder) {
    MakeFolders(folder_);
    std::vector<std::string> arguments = timer.program;
    for (const std::string& argument :
         std::vector<std::string>{timer.config, "--threads", std::to_string(split.threads), "--seconds",
                                  fmt::format("{}", kTimerSeconds), "--rate"})
      arguments.push_back(argument);
    try {
      for (const std::vector<int>& cpus : PlanJobs(cores, split.jobs, split.jobs, split.threads).cpus) {
        const std::string log = fmt::format("{}/{}.txt", folder_, logs_.size());
        running_.push_back(Start(PinnedCommand(arguments, split.threads, cpus, log)));
        logs_.push_back(log);
      }
    } catch (const Error&) {
      End();
      throw;
    }
  }
  TimerJobs(const TimerJobs&) = delete;
  TimerJobs& operator=(const TimerJobs&) = delete;
  ~TimerJobs() { End(); }

  /// Whether all have ended well.
  bool Done() {
    for (std::size_t job = 0; job < running_.size(); ++job) {
      int status = 0;
      if (running_[job] == 0 || waitpid(running_[job], &status, WNOHANG) != running_[job]) continue;
      running_[job] = 0;
      if (status != 0)
        throw Error(fmt::format("{}: {}", DescribeExit(status), LogTail(logs_[job], 0, 1)), Exit::kFailed);
      ++ended_;
    }
    return ended_ == running_.size();
  }

  double TokensPerSecond() const {
    double sum = 0;
    for (const std::string& log : logs_) {
      const std::string line = LogTail(log, 0, 1);
      double rate = 0;
      const auto parsed = std::from_chars(line.data(), line.data() + line.size(), rate);
      if (parsed.ec != std::errc() || !std::isfinite(rate) || rate <= 0)
        throw Error(fmt::format("'{}' is no number of tokens/s", line), Exit::kFailed);
      sum += rate;
    }
    return sum;
  }

 private:
  void End() {
    for (const pid_t pid : running_) {
      if (pid == 0) continue;
      kill(-pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string folder_;
  std::vector<std::string> logs_;
  std::vector<pid_t> running_;  // 0 = ended
  std::size_t ended_ = 0;
};

}  // namespace

bool MeasureSplit(const StepTimer& timer, const Cores& cores, const SignalQueue& signals, Split& split) {
  const auto start = Clock::now();
  TimerJobs jobs(timer, cores, split);
  while (!jobs.Done()) {
    const int signal = signals.Next(std::chrono::milliseconds(100));
    if (signal != 0 && signal != SIGCHLD) return false;
    if (SecondsSince(start) > timer.patience)
      throw Error(fmt::format("no result within {:.0f} s", timer.patience), Exit::kFailed);
  }
  // Rounded here, not when it is written: what is chosen now and from the file later must agree.
  split.tokens_per_s = std::round(10 * jobs.TokensPerSecond()) / 10;
  split.seconds = std::round(1000 * SecondsSince(start)) / 1000;
  return true;
}

}  // namespace dark
