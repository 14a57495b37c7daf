#include "sweeps/plan_table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "sweeps/job_plan.h"
#include "sweeps/parameter_count.h"
#include "sweeps/run_cost.h"

namespace dark {
namespace {

std::vector<std::pair<int, int>> Shapes(const std::vector<Split>& splits) {
  std::vector<std::pair<int, int>> shapes;
  for (const Split& split : splits) shapes.emplace_back(split.jobs, split.threads);
  return shapes;
}

TEST_CASE(
    "splits are powers of two and all cores, after the one taken unasked, each with the jobs that fit") {
  using Pairs = std::vector<std::pair<int, int>>;
  CHECK(Shapes(SplitsOf(1, 9)) == Pairs{{1, 1}});
  CHECK(Shapes(SplitsOf(2, 9)) == Pairs{{2, 1}, {1, 2}});
  CHECK(Shapes(SplitsOf(2, 1)) == Pairs{{1, 2}, {1, 1}});
  CHECK(Shapes(SplitsOf(6, 2)) == Pairs{{2, 3}, {2, 1}, {2, 2}, {1, 4}, {1, 6}});
  CHECK(Shapes(SplitsOf(8, 100)) == Pairs{{8, 1}, {4, 2}, {2, 4}, {1, 8}});
  for (int cores = 1; cores <= 20; ++cores)
    for (int trials = 1; trials <= 20; ++trials) {
      Cores machine;
      for (int cpu = 0; cpu < cores; ++cpu) machine.cpus.push_back(cpu);
      const std::vector<Split> splits = SplitsOf(cores, trials);
      const JobPlan unasked = PlanJobs(machine, trials, 0, 0);
      CHECK(splits[0].jobs == unasked.jobs());
      CHECK(splits[0].threads == unasked.threads);
      std::set<int> threads;
      for (const Split& split : splits) {
        CHECK(threads.insert(split.threads).second);
        CHECK(split.jobs ==
              PlanJobs(machine, trials, 0, split.threads).jobs());  // threads alone tell a split
      }
    }
}

TEST_CASE("a sweep lasts as long as its busiest job") {
  const Split two = {2, 1, 20, 1};  // 10 tokens/s a job
  CHECK(SweepSeconds(two, {100, 100}) == Approx(10));
  CHECK(SweepSeconds(two, {100, 100, 100}) == Approx(20));
  CHECK(SweepSeconds(two, {100, 50, 50}) == Approx(10));
  CHECK(SweepSeconds(two, {50, 50, 100}) == Approx(15));  // runs start in order
  CHECK(SweepSeconds({1, 2, 16, 1}, {100, 100, 100}) == Approx(18.75));
}

TEST_CASE("the best split ends first, and among equals the one with the most jobs") {
  const std::vector<double> many(100, 50.0);
  CHECK(BestOf({{4, 1, 40}, {2, 2, 50}, {1, 4, 45}}, many).threads == 2);
  CHECK(BestOf({{1, 4, 45}, {2, 2, 50}, {4, 1, 40}}, many).threads == 2);
  CHECK(BestOf({{1, 4, 40}, {2, 2, 40}, {4, 1, 40}}, many).jobs == 4);
  CHECK(BestOf({{2, 2, 40.5}, {4, 1, 40}}, many).jobs == 4);  // no better than a measurement repeats
  CHECK(BestOf({{2, 2, 41.5}, {4, 1, 40}}, many).jobs == 2);
  // Two jobs train more tokens/s, but the third of three runs leaves one of them idle.
  CHECK(BestOf({{2, 1, 20}, {1, 2, 16}}, {50, 50, 50}).jobs == 1);
  CHECK(BestOf({{2, 1, 20}, {1, 2, 16}}, {50, 50, 50, 50}).jobs == 2);
}

TEST_CASE("a table is read back as it was written, for its key only") {
  const std::vector<Split> splits = {{2, 1, 41203.1, 1.234}, {1, 2, 1e7, 0.5}, {1, 1, 0.1, 300}};
  const std::string csv = PlanTableCsv(splits, "2,2,A processor,0123456789abcdef");
  CHECK(csv.rfind("jobs,threads,tokens_per_s,seconds,cores,physical_cores,cpu,shape\n2,1,41203.1,1.234,2,2,",
                  0) == 0);
  const std::vector<Split> read = ParsePlanTable(csv, "2,2,A processor,0123456789abcdef");
  REQUIRE(read.size() == splits.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    CHECK(read[i].jobs == splits[i].jobs);
    CHECK(read[i].threads == splits[i].threads);
    CHECK(read[i].tokens_per_s == splits[i].tokens_per_s);
    CHECK(read[i].seconds == splits[i].seconds);
  }
  CHECK(ParsePlanTable(csv, "4,2,A processor,0123456789abcdef").empty());
  CHECK(ParsePlanTable("", "x").empty());
  CHECK(ParsePlanTable("2,1,nan,1,x\n2,1,10\n2,1,ten,1,x\n2,1,-1,1,x\n\n", "x").empty());
  CHECK(ParsePlanTable("nonsense\n2,1,10,1,x", "x").size() == 1);
}

Sweep Read(const std::string& text) { return Expand(ParseSpec(text, "load.yaml")); }

TEST_CASE("the load of a sweep is in tokens of its heaviest run") {
  const Sweep equal = Read(
      "base: {data: {text: t}, train: {steps: 10, batch: 4, context: 32, accumulate: 2}}\n"
      "grid: {optim.lr: [1e-3, 2e-3]}\n");
  CHECK(LoadOf(equal).heaviest == &equal.trials[0]);
  CHECK(LoadOf(equal).tokens == std::vector<double>(2, 10 * 4 * 32 * 2));

  const Sweep steps =
      Read("base: {data: {text: t}, train: {batch: 4, context: 32}}\ngrid: {train.steps: [10, 30]}\n");
  CHECK(LoadOf(steps).heaviest == &steps.trials[1]);
  CHECK(LoadOf(steps).tokens[0] == Approx(LoadOf(steps).tokens[1] / 3));

  const Sweep widths = Read("base: {data: {text: t}, train: {steps: 10}}\ngrid: {model.width: [256, 64]}\n");
  const SweepLoad load = LoadOf(widths);
  CHECK(load.heaviest == &widths.trials[0]);
  CHECK(load.tokens[1] < load.tokens[0] / 4);  // fewer operations, not fewer tokens
  CHECK(load.tokens[1] > load.tokens[0] / 20);
  // A token meets each weight in three passes, two operations each; attention comes on top.
  const double weights = 6.0 * static_cast<double>(ParameterCount(widths.trials[0].config));
  CHECK(load.flops_per_token > 0.9 * weights);
  CHECK(load.flops_per_token < 1.5 * weights);
}

TEST_CASE("equal shapes are equal steps, whatever else differs") {
  const auto shape = [](const std::string& more) {
    return StepShape(Read("base: {data: {text: t}, " + more + "}\n").trials[0].config);
  };
  CHECK(shape("optim: {lr: 0.1}") == shape("train: {steps: 7}"));
  for (const char* other : {"model: {layers: 3}", "train: {batch: 9}", "train: {context: 64}",
                            "train: {precision: fp64}", "attention: {variant: lfk}", "model: {width: 128}"})
    CHECK(shape(other) != shape("optim: {lr: 0.1}"));
}

}  // namespace
}  // namespace dark
