#pragma once

#include <map>
#include <string>

#include "data/dataset.h"
#include "experiments/config/run_config.h"

namespace dark {

/// The attributes of a run file that say what was run, on what and by which build.
std::map<std::string, std::string> Provenance(const RunConfig& config, const Dataset& data, Index parameters,
                                              int threads);

/// Git revision and flags of this build, for `--version` and the run file.
std::string BuildDescription();

/// The processor's name as the kernel gives it, or "unknown".
std::string CpuName();

}  // namespace dark
