#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/statistics.h"

namespace dark::analysis {

/// One finished run of a variant as learning-rate sensitivity sees it.
struct LrTrial {
  std::int64_t seed = 0;
  double lr = 0;
  double final_loss = std::numeric_limits<double>::quiet_NaN();    ///< validation, NaN when diverged
  double initial_loss = std::numeric_limits<double>::quiet_NaN();  ///< validation at step 0, NaN without
};

/// Learning-rate sensitivity S = mean over the grid of min(l(lr), l0) − l*: how much is lost on average by
/// not knowing the best learning rate. A run that diverged counts as l0.
struct LrSensitivity {
  std::vector<double> per_seed;      ///< S of each seed with a whole grid, in order of the seeds
  std::vector<std::int64_t> seeds;   ///< those seeds
  std::optional<Interval> interval;  ///< 95 % bootstrap over seeds; none for one seed
  std::string why_not;               ///< the reason when per_seed is empty: "not computable: …"
  std::vector<double> lrs;           ///< the grid, ascending
  std::optional<double> best_lr;     ///< lowest mean final loss among learning rates where none diverged
  bool best_on_edge = false;         ///< the best may lie outside the grid
  std::optional<double> decades;     ///< width of the learning rates within `kLossMargin` of the best

  std::optional<double> mean() const;
};

/// Nats above the best mean loss that still count as good when the width in decades is taken.
inline constexpr double kLossMargin = 0.1;

/// A seed counts when it has a trial at every learning rate of the grid, which is `planned` and whatever the
/// trials add; an unfinished learning rate thus never makes the grid smaller in silence.
LrSensitivity Sensitivity(std::span<const LrTrial> trials, std::span<const double> planned = {});

}  // namespace dark::analysis
