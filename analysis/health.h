#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/study.h"

namespace dark::analysis {

/// E‖Mx‖² above which random features cannot estimate the kernel with any useful m: the second moment of the
/// best estimator grows like exp(2 E‖Mx‖²).
inline constexpr double kMx2Limit = 2;

/// Random-feature health of the runs of an arm at one learning rate, at the last reading of each run. NaN
/// where the variant has no such channel.
struct Health {
  std::size_t runs = 0;   ///< runs with a reading
  std::int64_t step = 0;  ///< of the latest reading
  double mx2_low = 0;     ///< E‖Mx‖², smallest and largest over layers and runs
  double mx2_high = 0;
  double kernel_error = 0;     ///< relative RMS error against the own kernel, mean over layers and runs
  double kernel_worst = 0;     ///< largest
  double min_denominator = 0;  ///< smallest
  double underflow_rows = 0;   ///< sum over layers, runs and all readings
  double sigma_min = 0;        ///< smallest eigenvalue of Σ
  double sigma_max = 0;        ///< largest
  double anisotropy_q = 0;     ///< largest
  double anisotropy_k = 0;
};

/// None when no run of the group has a reading.
std::optional<Health> HealthOf(const Group& group);

/// First reading of a run with E‖Mx‖² above the limit in some layer, in words; "" without.
std::string Mx2Warning(const AnalysedRun& run);

}  // namespace dark::analysis
