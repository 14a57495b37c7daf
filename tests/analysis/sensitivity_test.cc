#include "analysis/sensitivity.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace dark::analysis {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("Sensitivity of a hand-made grid") {
  // Losses 2, 1, 3 and l0 = 5: mean 2 minus best 1.
  const std::vector<LrTrial> trials = {{1, 1e-3, 2, 5}, {1, 1e-2, 1, 5}, {1, 1e-1, 3, 5}};
  const LrSensitivity s = Sensitivity(trials);
  REQUIRE(s.mean().has_value());
  CHECK(*s.mean() == Approx(1));
  CHECK_FALSE(s.interval.has_value());
  CHECK(*s.best_lr == 1e-2);
  CHECK_FALSE(s.best_on_edge);
  CHECK(*s.decades == 0);
}

TEST_CASE("A diverged run and a run worse than untrained both count as the loss at step 0") {
  const std::vector<LrTrial> nan = {{1, 1e-3, 2, 5}, {1, 1e-2, kNaN, 5}};
  const std::vector<LrTrial> worse = {{1, 1e-3, 2, 5}, {1, 1e-2, 80, 5}};
  const std::vector<LrTrial> infinite = {{1, 1e-3, 2, 5},
                                         {1, 1e-2, std::numeric_limits<double>::infinity(), 5}};
  for (const auto& trials : {nan, worse, infinite}) CHECK(*Sensitivity(trials).mean() == Approx(1.5));
  CHECK(*Sensitivity(nan).best_lr == 1e-3);
}

TEST_CASE("Not computable has a reason") {
  CHECK(Sensitivity({}).why_not == "not computable: 0 learning rates");
  const std::vector<LrTrial> one = {{1, 1e-3, 2, 5}};
  CHECK(Sensitivity(one).why_not == "not computable: 1 learning rate");
  const std::vector<LrTrial> no_start = {{1, 1e-3, 2, kNaN}, {1, 1e-2, 2, kNaN}};
  CHECK(Sensitivity(no_start).why_not == "not computable: no evaluation at step 0 (seed 1)");
  const std::vector<LrTrial> all_bad = {{1, 1e-3, kNaN, 5}, {1, 1e-2, 9, 5}};
  CHECK(Sensitivity(all_bad).why_not == "not computable: every learning rate diverged (seed 1)");
  CHECK_FALSE(Sensitivity(all_bad).mean().has_value());
}

TEST_CASE("A seed without the whole grid is left out of S") {
  const std::vector<LrTrial> trials = {{1, 1e-3, 2, 5}, {1, 1e-2, 1, 5}, {2, 1e-3, 4, 5}};
  const LrSensitivity s = Sensitivity(trials);
  CHECK(s.seeds == std::vector<std::int64_t>{1});
  CHECK(*s.mean() == Approx(0.5));
}

TEST_CASE("A learning rate that has not finished is not dropped from the grid") {
  const std::vector<LrTrial> trials = {{1, 1e-3, 2, 5}, {1, 1e-2, 1, 5}};
  const LrSensitivity s = Sensitivity(trials, std::vector<double>{1e-3, 1e-2, 1e-1});
  CHECK(s.why_not == "not computable: 2 of 3 learning rates finished (seed 1)");
  CHECK_FALSE(s.best_on_edge);
  CHECK(Sensitivity({}, std::vector<double>{1e-3, 1e-2}).why_not == "not computable: no run has finished");
}

TEST_CASE("Over seeds S has a bootstrap interval; the best rate on the edge is told") {
  std::vector<LrTrial> trials;
  for (std::int64_t seed = 1; seed <= 4; ++seed)
    for (int i = 0; i < 3; ++i) trials.push_back({seed, std::pow(10, i - 3), 3 - i + 0.1 * seed * i, 5});
  const LrSensitivity s = Sensitivity(trials);
  CHECK(s.per_seed.size() == 4);
  REQUIRE(s.interval.has_value());
  CHECK(s.interval->low < *s.mean());
  CHECK(s.interval->high > *s.mean());
  CHECK(s.best_on_edge);
}

TEST_CASE("The width counts the unbroken stretch of good rates around the best") {
  const std::vector<LrTrial> trials = {{1, 1e-5, 2.01, 5}, {1, 1e-4, 3, 5},    {1, 1e-3, 2.05, 5},
                                       {1, 1e-2, 2, 5},    {1, 1e-1, 2.05, 5}, {1, 1, kNaN, 5}};
  CHECK(*Sensitivity(trials).decades == Approx(2));
}

}  // namespace dark::analysis
