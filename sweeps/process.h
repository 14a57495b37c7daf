#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace dark {

/// A program to start as a job of its own.
struct Command {
  std::vector<std::string> arguments;              ///< path of the program, then its arguments
  std::map<std::string, std::string> environment;  ///< added to, or replacing, the caller's
  std::vector<int> cpus;                           ///< CPUs it may run on; empty leaves the affinity alone
  std::string log;                                 ///< file that its output is appended to
};

/// Starts `command` in a process group of its own, with no standard input and default signal handling, and
/// returns its process id (also the group's). The kernel sends it SIGTERM when the calling thread dies,
/// however that dies, so no job outlives its driver unnoticed. Throws Error(kFailed) with the step that
/// failed and errno's text; then nothing runs.
pid_t Start(const Command& command);

/// The arguments as one line to paste into a shell.
std::string ShellLine(const std::vector<std::string>& arguments);

/// "exit code 4", "killed by SIGKILL (signal 9)": a status of waitpid in words.
std::string DescribeExit(int wait_status);

}  // namespace dark
