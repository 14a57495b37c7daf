#pragma once

#include <vector>

#include "sweeps/cores.h"

namespace dark {

/// How many trials run at once and on which CPUs: jobs × threads never exceeds the cores allowed.
struct JobPlan {
  int threads = 1;                     ///< threads a job
  std::vector<std::vector<int>> cpus;  ///< the CPUs of each job, disjoint

  int jobs() const { return static_cast<int>(cpus.size()); }
};

/// Divides `cores` among `trials` runs. 0 for `jobs` or `threads` means "choose": as many jobs as there are
/// cores and trials, because small models gain more from a second run than from a second thread, and the
/// cores left over become threads. A guess, for where nothing was measured (job_choice.h). Throws
/// Error(kUsage) when jobs × threads asks for more than is allowed.
JobPlan PlanJobs(const Cores& cores, int trials, int jobs, int threads);

}  // namespace dark
