#include "analysis/divergence.h"

#include <catch2/catch.hpp>
#include <limits>

namespace dark::analysis {
namespace {

using Answer = Divergence::Answer;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

RunData Flat(std::int64_t steps, double loss = 2) {
  RunData run;
  run.attributes["status"] = "done";
  for (std::int64_t i = 0; i < steps; ++i) {
    run.steps.emplace_back();
    run.steps.back().step = i;
    run.steps.back().loss = loss;
  }
  run.evals = {{0, 5, 0, 10}, {steps, loss, 0, 10}};
  return run;
}

}  // namespace

TEST_CASE("A healthy run fires no rule") {
  for (const Divergence& rule : CheckDivergence(Flat(300), {})) CHECK(rule.answer == Answer::kNo);
}

TEST_CASE("D0 takes step and tensor from the run, or the first loss that is not finite") {
  RunData run = Flat(100);
  run.attributes["status"] = "diverged";
  run.attributes["bad_step"] = "77";
  run.attributes["bad_tensor"] = "layer.1.attn.k";
  const Divergence told = CheckDivergence(run, {})[0];
  CHECK(told.answer == Answer::kYes);
  CHECK(told.step == std::optional<std::int64_t>(77));
  CHECK(told.detail == "not finite: layer.1.attn.k");
  for (const double bad : {kNaN, std::numeric_limits<double>::infinity()}) {
    RunData silent = Flat(100);
    silent.steps[40].loss = bad;
    CHECK(CheckDivergence(silent, {})[0].step == std::optional<std::int64_t>(40));
  }
}

TEST_CASE("D1 asks whether validation fell, and a NaN did not") {
  for (const double last : {5.0, 6.0, kNaN, std::numeric_limits<double>::infinity()}) {
    RunData run = Flat(10);
    run.evals.back().loss = last;
    CHECK(CheckDivergence(run, {})[1].answer == Answer::kYes);
  }
  RunData run = Flat(10);
  run.evals.front().step = 5;
  CHECK(CheckDivergence(run, {})[1].answer == Answer::kNotComputable);
  run.evals.clear();
  CHECK(CheckDivergence(run, {})[1].answer == Answer::kNotComputable);
}

TEST_CASE("D2 needs K steps in a row above c times the minimum") {
  const DivergenceLimits limits{1.5, 20, 100};
  for (const std::size_t length : {19u, 20u, 21u}) {
    RunData run = Flat(300);
    for (std::size_t i = 100; i < 100 + length; ++i) run.steps[i].loss = 3.5;
    const Divergence rule = CheckDivergence(run, {}, limits)[2];
    CHECK(rule.answer == (length >= 20 ? Answer::kYes : Answer::kNo));
    if (length >= 20) CHECK(rule.step == std::optional<std::int64_t>(100));
  }
  RunData broken = Flat(300);
  for (std::size_t i = 100; i < 300; ++i) broken.steps[i].loss = i % 19 == 0 ? 2.9 : 3.5;
  CHECK(CheckDivergence(broken, {}, limits)[2].answer == Answer::kNo);
  RunData silent = Flat(300);
  for (std::size_t i = 100; i < 130; ++i) silent.steps[i].loss = kNaN;
  CHECK(CheckDivergence(silent, {}, limits)[2].answer == Answer::kYes);
  CHECK(CheckDivergence(Flat(10), {}, limits)[2].answer == Answer::kNotComputable);
}

TEST_CASE("D3 fires for a spike that took too long or never came back, not for one near the end") {
  const RunData run = Flat(500);
  Event event;
  event.start = 200;
  event.recovery = 99;
  CHECK(CheckDivergence(run, std::vector{event})[3].answer == Answer::kNo);
  event.recovery = 100;
  CHECK(CheckDivergence(run, std::vector{event})[3].answer == Answer::kYes);
  event.recovery.reset();
  CHECK(CheckDivergence(run, std::vector{event})[3].step == std::optional<std::int64_t>(200));
  event.start = 450;
  CHECK(CheckDivergence(run, std::vector{event})[3].answer == Answer::kNo);
  event.start = 200;
  event.rise = false;
  CHECK(CheckDivergence(run, std::vector{event})[3].answer == Answer::kNo);
}

}  // namespace dark::analysis
