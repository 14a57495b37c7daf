#include "sweeps/trial_command.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "sweeps/log_file.h"

namespace dark {
namespace {

constexpr int kLogTailLines = 15;

}  // namespace

Command PinnedCommand(const std::vector<std::string>& arguments, int threads, const std::vector<int>& cpus,
                      const std::string& log) {
  Command command;
  command.arguments = arguments;
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"})
    command.environment[name] = std::to_string(threads);
  command.cpus = cpus;
  command.log = log;
  return command;
}

Command TrialCommand(const std::vector<std::string>& trainer, const std::string& folder, int threads,
                     const std::vector<int>& cpus) {
  std::vector<std::string> arguments = trainer;
  for (const std::string& argument : std::vector<std::string>{
           folder + "/config.yaml", "--out", folder, "--resume", "--threads", std::to_string(threads)})
    arguments.push_back(argument);
  return PinnedCommand(arguments, threads, cpus, folder + "/log.txt");
}

std::size_t BeginLog(const Command& command) {
  return AppendToLog(command.log, fmt::format("[{:%F %T}] {}\n", fmt::localtime(std::time(nullptr)),
                                              ShellLine(command.arguments)));
}

std::string FailureText(const std::string& name, const std::string& reason, const Command& command,
                        std::size_t log_start) {
  std::string text = fmt::format("failed: {}: {}\n", name, reason);
  const std::string tail = LogTail(command.log, log_start, kLogTailLines);
  text += tail.empty() ? fmt::format("  nothing was written to {}\n", command.log)
                       : fmt::format("  the end of {}:\n{}\n", command.log, tail);
  return text + "  to run it again: " + ShellLine(command.arguments);
}

}  // namespace dark
