#include "sweeps/report.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "sweeps/disk.h"
#include "sweeps/parameter_count.h"
#include "tests/temporary_folder.h"

namespace dark {
namespace {

const std::vector<NamedStatus> kTrials = {
    {"a", {TrialState::kDone, 200, 2.5, ""}},
    {"b", {TrialState::kDiverged, 17, std::numeric_limits<double>::infinity(), "loss is inf"}},
    {"c", {TrialState::kPlanned, 0, std::numeric_limits<double>::quiet_NaN(), ""}},
    {"d", {TrialState::kDone, 200, 2.25, ""}},
};

TEST_CASE("status is a line for each trial and the counts") {
  CHECK(StatusText(kTrials) ==
        "run  state     step    loss  reason\n"
        "a    done       200  2.5000\n"
        "b    diverged    17     inf  loss is inf\n"
        "c    planned      0       -\n"
        "d    done       200  2.2500\n"
        "\n4 trials: 1 planned, 2 done, 1 diverged\n");
}

TEST_CASE("status as JSON parses, and a loss that is no number is null") {
  const auto json = nlohmann::json::parse(StatusJson(kTrials));
  CHECK(json["trials"].size() == 4);
  CHECK(json["trials"][0]["loss"] == 2.5);
  CHECK(json["trials"][1]["loss"].is_null());
  CHECK(json["trials"][1]["state"] == "diverged");
  CHECK(json["trials"][1]["reason"] == "loss is inf");
  CHECK(json["counts"]["done"] == 2);
}

TEST_CASE("a plan lists runs and totals and writes nothing") {
  const TemporaryFolder folder;
  const SweepStore store(folder.path() + "/not/there");
  const Sweep sweep =
      Expand(ParseSpec("base: {data: {text: t}, train: {steps: 100, batch: 4, accumulate: 2, context: 32}}\n"
                       "grid: {optim.lr: [1e-3, 0.5], attention: [exact, {variant: performer, m: 16}]}\n",
                       "s.yaml"));
  JobPlan plan;
  plan.cpus = {{0}, {1}};
  INFO(PlanText(sweep, store, plan, "because of this"));
  const std::string text = PlanText(sweep, store, plan, "because of this");
  CHECK(text.find("tok/step") != std::string::npos);
  CHECK(text.find("0.001  performer  16     1    100       256 ") != std::string::npos);
  CHECK(text.find("  0.5  exact       -     1    100       256 ") != std::string::npos);
  CHECK(text.find(" " + std::to_string(ParameterCount(sweep.trials[0].config)) + "\n") != std::string::npos);
  CHECK(text.find("4 runs, 102k tokens in all; 2 jobs × 1 threads on CPUs [0] [1]\nbecause of this\n") !=
        std::string::npos);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("parameters are counted from the shape and the variant") {
  RunConfig config = Expand(ParseSpec("base: {data: {text: t}}\n", "s.yaml")).trials[0].config;
  const Index exact = ParameterCount(config);
  CHECK(exact > 256 * config.model.width);
  config.attention.variant = "lfk";
  const Index few = ParameterCount(config);
  config.attention.m *= 2;
  CHECK(ParameterCount(config) - few == few - exact);  // the projections are m × d a head
  config.data.tokenizer = "bpe";
  config.data.vocab = 512;
  CHECK(ParameterCount(config) - few == few - exact + 256 * config.model.width);
}

TEST_CASE("a folder that holds no sweep has no stored trials") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(SweepStore(folder.path()).StoredNames(), Catch::Contains("is not the folder of a sweep"));
  folder.Write("trials.json", "{");
  CHECK_THROWS_AS(SweepStore(folder.path()).StoredNames(), Error);
  CHECK(ReadTrial(folder.path() + "/none").state == TrialState::kPlanned);
}

TEST_CASE("disk needs grow with steps and weights, and too little space is refused with numbers") {
  const RunConfig small = Expand(ParseSpec("base: {data: {text: t}}\n", "s.yaml")).trials[0].config;
  RunConfig long_run = small;
  long_run.train.steps = 100 * small.train.steps;
  RunConfig wide = small;
  wide.model.width = 1024;
  CHECK(EstimateRunBytes(long_run) > EstimateRunBytes(small));
  CHECK(EstimateRunBytes(wide) > 12.0 * 256 * 1024);
  CHECK(FreeBytes("/tmp/no/such/folder/yet") > 0);
  CHECK_NOTHROW(RequireSpace("/tmp", 1));
  CHECK_THROWS_WITH(RequireSpace("/tmp", 1e18), Catch::Contains("need about 1000000 TB in /tmp, but only"));
}

}  // namespace
}  // namespace dark
