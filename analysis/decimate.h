#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dark::analysis {

/// A point of a drawn curve; a `y` of NaN lifts the pen.
struct CurvePoint {
  double x = 0;
  double y = 0;
};

/// Thins a curve for drawing: of each of `buckets` equal stretches the smallest and the largest finite value
/// are kept at their own x, so a spike of one step among a million stays visible. Stretches with values that
/// are not finite keep a gap there. Infinities become gaps. `x` ascends; both have the same length.
std::vector<CurvePoint> Decimate(std::span<const double> x, std::span<const double> y, std::size_t buckets);

/// The trend of a curve: the mean of the finite values in each of `buckets` equal stretches, at their mean x;
/// a stretch without any lifts the pen.
std::vector<CurvePoint> BucketMeans(std::span<const double> x, std::span<const double> y,
                                    std::size_t buckets);

}  // namespace dark::analysis
