#include "tests/sweeps/fake_trial.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "core/files/file.h"
#include "core/files/replace_file.h"
#include "experiments/run_file/run_file.h"
#include "sweeps/log_file.h"
#include "sweeps/process.h"

namespace dark {
namespace {

volatile std::sig_atomic_t stop_requests = 0;
void RequestStop(int) { stop_requests = stop_requests + 1; }

std::vector<std::string> LinesOf(const char* variable) {
  std::vector<std::string> lines;
  const char* text = std::getenv(variable);
  for (std::string rest = text == nullptr ? "" : text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    lines.push_back(rest.substr(0, end));
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
  return lines;
}

RunWriter OpenRun(const std::string& folder, const RunConfig& config, std::int64_t& step) {
  const std::string saved = folder + "/saved.txt";
  if (std::filesystem::exists(saved)) {
    step = std::stoll(ReadFile(saved));
    return RunWriter::Resume(folder + "/run.h5", step);
  }
  return RunWriter::Create(folder + "/run.h5", {{"config_hash", ConfigHash(config)}});
}

void Save(RunWriter& run, const std::string& folder, std::int64_t step) {
  run.Flush();
  ReplaceFile(folder + "/saved.txt", std::to_string(step));
}

Exit Train(const RunConfig& config, const std::string& folder) {
  const RunLock lock(folder);
  const std::string path = folder + "/run.h5";
  if (std::filesystem::exists(path) || std::filesystem::exists(path + ".journal")) {
    const RunStatus status = ReadRun(path).status();
    if (status == RunStatus::kDone) return Exit::kOk;
    if (status == RunStatus::kDiverged) return Exit::kDiverged;
  }
  AppendToLog(folder + "/starts.txt", std::to_string(getpid()) + "\n");
  std::int64_t step = 0;
  RunWriter run = OpenRun(folder, config, step);
  const std::string& role = config.data.text;
  const int patience = role == "stubborn" ? 1000 : 0;
  for (; step < config.train.steps; ++step) {
    if (stop_requests > patience) {
      Save(run, folder, step);
      run.Finish(RunStatus::kStopped, "told to stop");
      return Exit::kStopped;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    StepRow row;
    row.step = step;
    row.loss = 5.0 / static_cast<double>(step + 1);
    row.tokens = 1024;
    row.seconds = 0.005;
    run.Append(row);
    if (step % 5 == 4) Save(run, folder, step + 1);
    if (role == "crash" && step == 3) std::raise(SIGABRT);
    if (role == "fail" && step == 3) {
      fmt::print("line one\nthe disk is on fire\n");
      run.Finish(RunStatus::kFailed, "disk on fire");
      return Exit::kFailed;
    }
    if (role == "diverge" && step == 3) {
      run.Finish(RunStatus::kDiverged, "loss is nan");
      return Exit::kDiverged;
    }
  }
  run.Finish(RunStatus::kDone, "");
  return Exit::kOk;
}

Exit Time(const RunConfig& config, const std::string& path, int threads) {
  AppendToLog(FolderOf(path) + "/timed.txt", fmt::format("{}\n", threads));
  const std::string& role = config.data.text;
  if (role == "untimed") {
    fmt::print("no clock\n");
    return Exit::kFailed;
  }
  if (role == "mute") fmt::print("fast\n");
  while (role == "hang" && threads > 1 && stop_requests == 0)
    std::this_thread::sleep_for(std::chrono::seconds(1));
  const double rate = role == "rapid" ? 1e9 : role == "threads" && threads > 1 ? 30 : 10;
  if (role != "mute") fmt::print("{:.1f}\n", rate);
  return Exit::kOk;
}

/// Ends the process as main would, past what the test framework has to say.
[[noreturn]] void End(Exit exit) {
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(exit));
}

TEST_CASE("role: trial", "[.trial]") {
  const std::vector<std::string> arguments =
      LinesOf("DARK_TRIAL");  // CONFIG --out FOLDER --resume --threads N, or bench CONFIG --threads N …
  if (arguments.size() < 6) End(Exit::kUsage);
  struct sigaction action {};
  action.sa_handler = RequestStop;
  sigaction(SIGTERM, &action, nullptr);
  try {
    if (arguments[0] == "bench")
      End(Time(LoadRunConfig(arguments[1], {}), arguments[1], std::stoi(arguments[3])));
    End(Train(LoadRunConfig(arguments[0], {}), arguments[2]));
  } catch (const std::exception& error) {
    fmt::print("fake trial: {}\n", error.what());
    End(Exit::kFailed);
  }
}

TEST_CASE("role: driver", "[.driver]") {
  const std::vector<std::string> arguments = LinesOf("DARK_DRIVER");  // spec, out, trainer
  if (arguments.size() != 3) End(Exit::kUsage);
  try {
    Sweep sweep = Expand(LoadSpec(arguments[0]));
    const SweepStore store(arguments[1]);
    Tally tally;
    {
      const auto monitor = MakeMonitor(StyleFor(stdout), stdout);
      tally = RunSweep(sweep, store, OptionsFor(arguments[2]), *monitor);
    }
    End(ExitFor(tally, false));
  } catch (const Error& error) {
    fmt::print("fake driver: {}\n", error.what());
    End(error.exit());
  }
}

}  // namespace

std::string WriteFakeTrainer(const std::string& folder) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string path = folder + "/trainer";
  ReplaceFile(path, fmt::format("#!/bin/sh\nDARK_TRIAL=$(printf '%s\\n' \"$@\")\nexport DARK_TRIAL\n"
                                "exec {} '[.trial]'\n",
                                ShellLine({self})));
  chmod(path.c_str(), 0755);
  return path;
}

pid_t StartFakeDriver(const std::string& spec, const std::string& out, const std::string& trainer,
                      const std::string& log) {
  Command command;
  command.arguments = {std::filesystem::read_symlink("/proc/self/exe").string(), "[.driver]"};
  command.environment["DARK_DRIVER"] = spec + "\n" + out + "\n" + trainer;
  command.log = log;
  return Start(command);
}

Tally Drive(Sweep& sweep, const std::string& out, const LaunchOptions& options) {
  const auto monitor = MakeMonitor(MonitorStyle::kQuiet, std::tmpfile());
  return RunSweep(sweep, SweepStore(out), options, *monitor);
}

LaunchOptions OptionsFor(const std::string& trainer) {
  LaunchOptions options;
  options.trainer = {trainer};
  options.cores = AllowedCores();
  return options;
}

}  // namespace dark
