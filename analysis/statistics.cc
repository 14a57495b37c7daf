#include "analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/random.h"

namespace dark::analysis {
namespace {

// P(|T| ≤ t) for integer degrees of freedom is a finite sum in θ = atan(t/√ν) (Abramowitz & Stegun 26.7.3–4).
double Coverage(double theta, std::size_t freedom) {
  const double sine = std::sin(theta), cosine = std::cos(theta);
  const bool odd = freedom % 2 == 1;
  double term = odd ? cosine : 1, sum = 0;
  for (std::size_t k = odd ? 1 : 0; k + 2 <= freedom; k += 2) {
    sum += term;
    term *= cosine * cosine * static_cast<double>(k + 1) / static_cast<double>(k + 2);
  }
  return odd ? (theta + sine * sum) * 2 / std::numbers::pi : sine * sum;
}

}  // namespace

Estimate EstimateMean(std::span<const double> values) {
  Estimate estimate;
  estimate.n = values.size();
  if (values.empty()) return estimate;
  const double n = static_cast<double>(values.size());
  for (const double x : values) estimate.mean += x / n;
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  estimate.min = *min;
  estimate.max = *max;
  if (values.size() < 2) return estimate;
  double squares = 0;
  for (const double x : values) squares += (x - estimate.mean) * (x - estimate.mean);
  estimate.sd = std::sqrt(squares / (n - 1));
  estimate.half = StudentQuantile(0.95, values.size() - 1) * estimate.sd / std::sqrt(n);
  return estimate;
}

double StudentQuantile(double coverage, std::size_t freedom) {
  double low = 0, high = std::numbers::pi / 2;
  for (double theta = high / 2; theta > low && theta < high; theta = (low + high) / 2)
    (Coverage(theta, freedom) < coverage ? low : high) = theta;
  return std::sqrt(static_cast<double>(freedom)) * std::tan(low);
}

std::optional<Interval> BootstrapMean(std::span<const double> values) {
  constexpr std::size_t kResamples = 4000;
  if (values.size() < 2) return std::nullopt;
  Stream stream(0, "analysis.bootstrap");
  std::vector<double> means(kResamples);
  for (double& mean : means) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[stream.Below(values.size())];
    mean = sum / static_cast<double>(values.size());
  }
  std::sort(means.begin(), means.end());
  return Interval{means[kResamples / 40], means[kResamples - 1 - kResamples / 40]};
}

}  // namespace dark::analysis
