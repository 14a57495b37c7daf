#pragma once

#include <string>
#include <vector>

#include "sweeps/expand.h"
#include "sweeps/job_plan.h"
#include "sweeps/store.h"

namespace dark {

/// What `sweep plan` prints: every run with what decides its cost, totals, jobs and threads, disk.
/// `choice` says why these jobs and threads; may be empty.
std::string PlanText(const Sweep& sweep, const SweepStore& store, const JobPlan& plan,
                     const std::string& choice);

/// A trial's name and where it stands.
struct NamedStatus {
  std::string name;
  TrialStatus status;
};
std::vector<NamedStatus> ReadTrials(const SweepStore& store, const std::vector<std::string>& names);

/// What `sweep status` prints: one line a trial and the counts of each state.
std::string StatusText(const std::vector<NamedStatus>& trials);
/// The same as JSON: {"trials": [{"name", "state", "step", "loss", "reason"}], "counts": {…}}. A loss that is
/// no finite number is null, because JSON has no other; "diverged" says why.
std::string StatusJson(const std::vector<NamedStatus>& trials);

}  // namespace dark
