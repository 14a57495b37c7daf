#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace dark::analysis {

struct Interval {
  double low = 0;
  double high = 0;
};

/// What a handful of independent values says about their mean.
struct Estimate {
  std::size_t n = 0;
  double mean = 0;
  double sd = 0;               ///< sample standard deviation (n − 1), 0 for n < 2
  std::optional<double> half;  ///< half width of the 95 % t interval; none for n < 2
  double min = 0;
  double max = 0;
};

/// `values` must be finite: what to do with a diverged run is the caller's decision.
Estimate EstimateMean(std::span<const double> values);

/// t with P(|T| ≤ t) = `coverage` for Student's distribution with `freedom` ≥ 1 degrees of freedom.
double StudentQuantile(double coverage, std::size_t freedom);

/// 95 % percentile bootstrap interval of the mean from 4000 resamples of a fixed random stream, so the same
/// values always give the same interval; none for n < 2.
std::optional<Interval> BootstrapMean(std::span<const double> values);

}  // namespace dark::analysis
