#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sweeps/process.h"

namespace dark {

/// `arguments` on `cpus`, with the thread counts of the usual libraries set to `threads` and the output in
/// `log`.
Command PinnedCommand(const std::vector<std::string>& arguments, int threads, const std::vector<int>& cpus,
                      const std::string& log);

/// How a trial in `folder` is run: `trainer` CONFIG --out FOLDER --resume --threads N as a
/// PinnedCommand, with its output in log.txt.
Command TrialCommand(const std::vector<std::string>& trainer, const std::string& folder, int threads,
                     const std::vector<int>& cpus);

/// Writes time and command to the log and returns its size: what follows belongs to this attempt. Throws
/// Error(kFailed) with path and errno text.
std::size_t BeginLog(const Command& command);

/// What a user needs at once when a trial fails: the reason, the end of what it wrote since `log_start`, and
/// the line that runs it again.
std::string FailureText(const std::string& name, const std::string& reason, const Command& command,
                        std::size_t log_start);

}  // namespace dark
