#include "sweeps/progress.h"

#include <algorithm>
#include <limits>

#include "core/error.h"

namespace dark {
namespace {

constexpr std::size_t kRecentSteps = 50;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

ProgressFollower::ProgressFollower(const Trial& trial, const std::string& folder)
    : progress_{trial.name, 0, trial.config.train.steps, kUnknown, kUnknown, kUnknown},
      follower_(folder + "/run.h5") {}

Progress ProgressFollower::Poll() {
  try {
    const std::vector<StepRow>& steps = follower_.Poll().steps;
    if (steps.empty()) return progress_;
    double seconds = 0;
    double tokens = 0;
    const std::size_t recent = std::min(kRecentSteps, steps.size());
    for (std::size_t i = steps.size() - recent; i < steps.size(); ++i) {
      seconds += steps[i].seconds;
      tokens += static_cast<double>(steps[i].tokens);
    }
    progress_.step = steps.back().step + 1;
    progress_.loss = steps.back().loss;
    progress_.tokens_per_second = seconds > 0 ? tokens / seconds : kUnknown;
    progress_.seconds_left = seconds / static_cast<double>(recent) *
                             static_cast<double>(std::max<std::int64_t>(progress_.steps - progress_.step, 0));
  } catch (const Error&) {
    // A table is no place to judge a file: the trial's end will, and the last numbers stay until then.
  }
  return progress_;
}

}  // namespace dark
