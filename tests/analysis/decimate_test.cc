#include "analysis/decimate.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/random.h"

namespace dark::analysis {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<double> Steps(std::size_t n) {
  std::vector<double> x(n);
  std::iota(x.begin(), x.end(), 0.0);
  return x;
}

}  // namespace

TEST_CASE("A spike of one step among a million is drawn at its place") {
  Stream stream(1, "test.decimate");
  std::vector<double> y(1000000);
  for (double& value : y) value = stream.Uniform();
  for (const std::size_t at : {std::size_t{0}, std::size_t{765432}, y.size() - 1}) {
    std::vector<double> spiked = y;
    spiked[at] = 50;
    const std::vector<CurvePoint> drawn = Decimate(Steps(y.size()), spiked, 300);
    CHECK(drawn.size() <= 900);
    CHECK(std::count_if(drawn.begin(), drawn.end(), [&](const CurvePoint& point) {
            return point.y == 50 && point.x == static_cast<double>(at);
          }) == 1);
  }
}

TEST_CASE("Extremes, order and gaps survive any thinning") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Stream stream(seed, "test.decimate");
    std::vector<double> y(stream.Below(500));
    for (double& value : y) value = stream.Below(10) ? stream.Normal() : kNaN;
    const std::size_t buckets = 1 + stream.Below(60);
    const std::vector<CurvePoint> drawn = Decimate(Steps(y.size()), y, buckets);
    double lowest = 1e9, highest = -1e9, drawn_lowest = 1e9, drawn_highest = -1e9;
    for (const double value : y)
      if (std::isfinite(value)) lowest = std::min(lowest, value), highest = std::max(highest, value);
    for (const CurvePoint& point : drawn)
      if (std::isfinite(point.y))
        drawn_lowest = std::min(drawn_lowest, point.y), drawn_highest = std::max(drawn_highest, point.y);
    REQUIRE(drawn_lowest == lowest);
    REQUIRE(drawn_highest == highest);
    REQUIRE(std::is_sorted(drawn.begin(), drawn.end(), [](auto a, auto b) { return a.x < b.x; }));
    const bool gap = std::any_of(y.begin(), y.end(), [](double value) { return std::isnan(value); });
    REQUIRE(gap == std::any_of(drawn.begin(), drawn.end(), [](auto p) { return std::isnan(p.y); }));
  }
}

TEST_CASE("A short curve is kept point by point, infinity becomes a gap") {
  const std::vector<double> y = {1, std::numeric_limits<double>::infinity(), 3};
  const std::vector<CurvePoint> drawn = Decimate(Steps(3), y, 300);
  REQUIRE(drawn.size() == 3);
  CHECK(drawn[0].y == 1);
  CHECK(std::isnan(drawn[1].y));
  CHECK(drawn[2].y == 3);
}

TEST_CASE("The trend is the mean of what is finite") {
  const std::vector<double> y = {1, 3, kNaN, 7, kNaN, kNaN};
  const std::vector<CurvePoint> trend = BucketMeans(Steps(6), y, 3);
  REQUIRE(trend.size() == 3);
  CHECK(trend[0].x == 0.5);
  CHECK(trend[0].y == 2);
  CHECK(trend[1].y == 7);
  CHECK(std::isnan(trend[2].y));
}

}  // namespace dark::analysis
