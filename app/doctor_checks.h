#pragma once

#include <string>
#include <vector>

#include "sweeps/cores.h"

namespace dark {

/// One thing `darkformer doctor` looked at.
struct Finding {
  enum class Level { kOk, kWarn, kFail };
  Level level;
  std::string subject;  ///< one word: "cores", "disk", …
  std::string message;  ///< what was found
  std::string advice;   ///< what to do about it; "" when all is well
};

// The machine: app/doctor_machine.cc.
Finding CheckBuild();
Finding CheckSimd();
Finding CheckCores(const Cores& cores);
Finding CheckMemory();
/// One finding for every variable that is set and changes how threads behave; one when none is.
std::vector<Finding> CheckThreadEnvironment(const Cores& cores);

// The surroundings: app/doctor_surroundings.cc. `folder` is where runs will be written.
Finding CheckDisk(const std::string& subject, const std::string& folder);
/// Whether a held flock keeps a second open file out: what protects a run from a second writer.
Finding CheckLocks(const std::string& folder);
Finding CheckHdf5Locking();
Finding CheckLocale();
Finding CheckGnuplot();

}  // namespace dark
