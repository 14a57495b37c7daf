#pragma once

#include <map>
#include <string>

#include "experiments/benchmark/machine.h"
#include "experiments/benchmark/step_benchmark.h"

namespace dark {

/// Whether the variant that `attention` names has a feature count m.
bool UsesFeatures(AttentionOptions attention);

/// What `darkformer bench` prints: the machine's limits and what is counted, a line a case, and after all of
/// them where each case's time goes.
std::string BenchHeader(const StepCase& step, const std::map<int, MachineLimits>& limits);
std::string BenchLine(const StepCase& step, const StepTiming& timing, const MachineLimits& machine);
/// Each kind of op: its time forward and backward, the share of the step, and how near it is to its own
/// limit, the larger of flops / peak of their instructions and bytes / bandwidth.
std::string OpTable(const StepCase& step, const StepTiming& timing, const MachineLimits& machine);

/// The same numbers as CSV: a row for the step (op "step") and one for each kind of op.
std::string BenchCsvHeader();
std::string BenchCsv(const StepCase& step, const StepTiming& timing, const MachineLimits& machine);

}  // namespace dark
