#pragma once

#include <sys/types.h>

#include <cstring>
#include <functional>
#include <string>

#include "core/random.h"
#include "experiments/run_file/columns.h"
#include "experiments/run_file/run_data.h"
#include "tests/temporary_folder.h"

namespace dark {

/// Rows that are a function of their step alone, so that a reader can tell lost, doubled and damaged rows.
/// Every 17th loss is NaN or infinite.
StepRow StepAt(std::int64_t step);
EvalRow EvalAt(std::int64_t step);
HealthRow HealthAt(std::int64_t step, std::int64_t layer);
/// A run of `steps` steps, with an evaluation and two health rows each 10 steps.
RunData SomeRun(std::int64_t steps);

/// Bit for bit: NaN equals the same NaN.
template <class Row>
bool SameRows(const std::vector<Row>& a, const std::vector<Row>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Row)) == 0);
}
bool SameRun(const RunData& a, const RunData& b);
bool SameSeries(const RunData& a, const RunData& b);

/// Runs `work` in a child process, which leaves with status 0, or 1 when `work` throws.
pid_t Fork(const std::function<void()>& work);
/// Waits for a child; its exit status, or minus the signal that ended it.
int Wait(pid_t child);

std::string ReadText(const std::string& path);
void WriteText(const std::string& path, const std::string& text);
/// The message of the Error(kFailed) that `work` throws; "" when it throws none.
std::string FailureOf(const std::function<void()>& work);

}  // namespace dark
