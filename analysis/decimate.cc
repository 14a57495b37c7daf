#include "analysis/decimate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "analysis/moments.h"

namespace dark::analysis {
namespace {

void AppendBucket(std::span<const double> x, std::span<const double> y, std::size_t begin, std::size_t end,
                  std::vector<CurvePoint>& out) {
  std::optional<std::size_t> low, high, gap;
  for (std::size_t i = begin; i < end; ++i) {
    if (!std::isfinite(y[i])) {
      gap = i;
      continue;
    }
    if (!low || y[i] < y[*low]) low = i;
    if (!high || y[i] > y[*high]) high = i;
  }
  std::vector<std::size_t> kept;
  for (const auto& index : {low, high, gap})
    if (index) kept.push_back(*index);
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  for (const std::size_t i : kept)
    out.push_back({x[i], std::isfinite(y[i]) ? y[i] : std::numeric_limits<double>::quiet_NaN()});
}

}  // namespace

std::vector<CurvePoint> Decimate(std::span<const double> x, std::span<const double> y, std::size_t buckets) {
  std::vector<CurvePoint> out;
  const std::size_t n = std::min(x.size(), y.size());
  const std::size_t used = std::min(n, buckets);
  for (std::size_t b = 0; b < used; ++b) AppendBucket(x, y, b * n / used, (b + 1) * n / used, out);
  return out;
}

std::vector<CurvePoint> BucketMeans(std::span<const double> x, std::span<const double> y,
                                    std::size_t buckets) {
  std::vector<CurvePoint> out;
  const std::size_t n = std::min(x.size(), y.size());
  const std::size_t used = std::min(n, buckets);
  for (std::size_t b = 0; b < used; ++b) {
    Moments at, value;
    for (std::size_t i = b * n / used; i < (b + 1) * n / used; ++i) {
      at = Merge(at, Moments::Of(x[i]));
      if (std::isfinite(y[i])) value = Merge(value, Moments::Of(y[i]));
    }
    out.push_back({at.mean, value.n > 0 ? value.mean : std::numeric_limits<double>::quiet_NaN()});
  }
  return out;
}

}  // namespace dark::analysis
