#include "analysis/statistics.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "core/random.h"

namespace dark::analysis {

TEST_CASE("Student quantiles equal the printed table") {
  const std::vector<std::pair<std::size_t, double>> table = {{1, 12.706}, {2, 4.303},  {3, 3.182},
                                                             {4, 2.776},  {5, 2.571},  {9, 2.262},
                                                             {10, 2.228}, {30, 2.042}, {120, 1.980}};
  for (const auto& [freedom, t] : table) CHECK(StudentQuantile(0.95, freedom) == Approx(t).margin(6e-4));
  CHECK(StudentQuantile(0.99, 1) == Approx(63.657).margin(1e-3));
  CHECK(StudentQuantile(0.99, 20) == Approx(2.845).margin(6e-4));
  CHECK(StudentQuantile(0.5, 2) == Approx(0.816).margin(6e-4));
}

TEST_CASE("An estimate of one value has no interval, of none no value") {
  const Estimate one = EstimateMean(std::vector<double>{3});
  CHECK(one.n == 1);
  CHECK(one.mean == 3);
  CHECK_FALSE(one.half.has_value());
  CHECK(EstimateMean(std::vector<double>{}).n == 0);
}

TEST_CASE("The t interval of 1, 2, 3") {
  const Estimate e = EstimateMean(std::vector<double>{1, 2, 3});
  CHECK(e.mean == Approx(2));
  CHECK(e.sd == Approx(1));
  CHECK(*e.half == Approx(4.3027 / std::sqrt(3.0)).epsilon(1e-4));
  CHECK(e.min == 1);
  CHECK(e.max == 3);
}

TEST_CASE("95 % intervals cover the truth about 95 times in 100") {
  int covered = 0;
  constexpr int kTrials = 2000;
  Stream stream(11, "test.coverage");
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(4);
    for (double& x : values) x = 5 + stream.Normal();
    const Estimate e = EstimateMean(values);
    if (std::abs(e.mean - 5) <= *e.half) ++covered;
  }
  // Five standard errors of a binomial count.
  CHECK(std::abs(covered - 0.95 * kTrials) < 5 * std::sqrt(kTrials * 0.95 * 0.05));
}

TEST_CASE("The bootstrap repeats itself and brackets the mean") {
  const std::vector<double> values = {0.1, 0.4, 0.2, 0.9, 0.3};
  const Interval a = *BootstrapMean(values), b = *BootstrapMean(values);
  CHECK(a.low == b.low);
  CHECK(a.high == b.high);
  CHECK(a.low < 0.38);
  CHECK(a.high > 0.38);
  CHECK(a.low >= 0.1);
  CHECK(a.high <= 0.9);
  CHECK_FALSE(BootstrapMean(std::vector<double>{1}).has_value());
}

TEST_CASE("The bootstrap of many values comes near the normal interval") {
  Stream stream(5, "test.bootstrap");
  std::vector<double> values(400);
  for (double& x : values) x = stream.Normal();
  const Estimate e = EstimateMean(values);
  const Interval interval = *BootstrapMean(values);
  CHECK(interval.high - interval.low == Approx(2 * *e.half).epsilon(0.1));
}

}  // namespace dark::analysis
