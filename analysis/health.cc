#include "analysis/health.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "analysis/format.h"
#include "analysis/moments.h"

namespace dark::analysis {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// fmin and fmax pass over NaN, so a channel is NaN only when nothing was ever read.
void Add(Health& health, const HealthRow& row, Moments& error) {
  health.mx2_low = std::fmin(health.mx2_low, row.mx2);
  health.mx2_high = std::fmax(health.mx2_high, row.mx2);
  health.kernel_worst = std::fmax(health.kernel_worst, row.kernel_error);
  health.min_denominator = std::fmin(health.min_denominator, row.min_denominator);
  health.sigma_min = std::fmin(health.sigma_min, row.sigma_min);
  health.sigma_max = std::fmax(health.sigma_max, row.sigma_max);
  health.anisotropy_q = std::fmax(health.anisotropy_q, row.anisotropy_q);
  health.anisotropy_k = std::fmax(health.anisotropy_k, row.anisotropy_k);
  if (std::isfinite(row.kernel_error)) error = Merge(error, Moments::Of(row.kernel_error));
}

}  // namespace

std::optional<Health> HealthOf(const Group& group) {
  Health health;
  health.mx2_low = health.mx2_high = health.kernel_worst = health.min_denominator = health.underflow_rows =
      health.sigma_min = health.sigma_max = health.anisotropy_q = health.anisotropy_k = kNone;
  Moments error;
  for (const AnalysedRun* run : group.runs) {
    const std::vector<HealthRow>& rows = run->data.health;
    if (rows.empty()) continue;
    ++health.runs;
    health.step = std::max(health.step, rows.back().step);
    for (const HealthRow& row : rows) {
      if (std::isfinite(row.underflow_rows))
        health.underflow_rows =
            row.underflow_rows + (std::isnan(health.underflow_rows) ? 0 : health.underflow_rows);
      if (row.step == rows.back().step) Add(health, row, error);
    }
  }
  health.kernel_error = error.n > 0 ? error.mean : kNone;
  if (health.runs == 0) return std::nullopt;
  return health;
}

std::string Mx2Warning(const AnalysedRun& run) {
  for (const HealthRow& row : run.data.health)
    if (row.mx2 > kMx2Limit)
      return fmt::format("{} in layer {} at step {}", Fixed(row.mx2, 2), row.layer, row.step);
  return "";
}

}  // namespace dark::analysis
