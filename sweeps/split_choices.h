#pragma once

#include <string>
#include <vector>

#include "sweeps/cores.h"
#include "sweeps/expand.h"
#include "sweeps/job_choice.h"
#include "sweeps/plan_table.h"
#include "sweeps/run_cost.h"
#include "sweeps/store.h"

namespace dark {

/// The ways to divide the cores for a sweep, and what jobs.csv in its folder knows of them.
class SplitChoices {
 public:
  SplitChoices(const Sweep& sweep, const SweepStore& store, const Cores& cores);

  const Trial& heaviest() const { return *load_.heaviest; }
  /// The next split to measure; null when all are or when the sweep is too short for the rest.
  Split* Next();
  /// Writes jobs.csv.
  void Write() const;
  /// What is known, for people; "" when nothing is.
  std::string Table() const;
  JobChoice Choose() const;

 private:
  const Split& guess() const { return splits_.front(); }
  std::vector<Split> Known() const;
  bool Pays() const;
  std::string Rest(const std::vector<Split>& known) const;

  SweepLoad load_;
  std::string path_;
  std::string key_;
  std::vector<Split> splits_;  // the first is the one that PlanJobs takes
};

}  // namespace dark
