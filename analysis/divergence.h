#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/event.h"
#include "experiments/run_file/run_data.h"

namespace dark::analysis {

/// Parameters of the divergence rules; printed wherever the rules are.
struct DivergenceLimits {
  double factor = 1.5;                ///< c of D2
  std::size_t steps_above = 50;       ///< K of D2
  std::size_t steps_to_return = 100;  ///< K of D3
};

/// The answer of one rule for one run.
struct Divergence {
  enum class Answer { kNo, kYes, kNotComputable };
  std::string rule;  ///< "D0" … "D3"
  Answer answer = Answer::kNo;
  std::optional<std::int64_t> step;  ///< where it began, when the answer is yes and has a step
  std::string detail;                ///< one clause for people
};

/// D0: a loss, gradient or parameter stopped being finite (the run's own status, step and tensor).
/// D1: the last validation loss is not below the one at step 0, so training gained nothing.
/// D2: the training loss is not within `factor` times its running minimum for `steps_above` steps in a row.
/// D3: a spike (`loss_events`, indices into run.steps) is not recovered `steps_to_return` steps later.
std::vector<Divergence> CheckDivergence(const RunData& run, std::span<const Event> loss_events,
                                        const DivergenceLimits& limits = {});

/// The four rules with their parameters in words.
std::vector<std::string> Describe(const DivergenceLimits& limits);

}  // namespace dark::analysis
