#pragma once

#include <string>
#include <vector>

namespace dark {

/// The run file that a user means: `path` itself, RUN.h5 of RUN.h5.journal, or DIR/run.h5 of a run directory.
std::string RunPathOf(const std::string& path);

/// One run that RepairAll looked at.
struct Repair {
  enum class Outcome { kRepaired, kWhole, kAlive, kFailed };
  std::string path;  ///< of the run file
  Outcome outcome;
  std::string message;  ///< one line for people, names the path
};

/// Repairs runs: each of `paths` is a run file, a journal, a run directory or a folder searched for journals
/// at any depth. One that fails does not keep the others from being repaired.
std::vector<Repair> RepairAll(const std::vector<std::string>& paths);

}  // namespace dark
