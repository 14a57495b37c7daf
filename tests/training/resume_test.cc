// Stopped or killed anywhere and resumed, a run ends with the same bits (field cases C42, C43).
#include <catch2/catch.hpp>
#include <csignal>
#include <random>

#include <sys/wait.h>
#include <unistd.h>

#include "core/attention/options.h"
#include "experiments/run_file/checkpoint.h"
#include "tests/training/harness.h"

namespace dark {
namespace {

using testing::Lines;
using testing::Workspace;

// Trains until `stop_after` steps of this process are done (or to the end), as one process would.
TrainResult TrainUntil(const RunConfig& config, const std::string& directory, Index stop_after) {
  std::atomic<bool> stop{false};
  TrainRequest request;
  request.directory = directory;
  request.resume = true;
  request.stop = &stop;
  request.on_step = [&](const TrainProgress& p) {
    stop = stop_after > 0 && p.row.step + 1 - p.first_step >= stop_after;
  };
  return TrainRun(config, request);
}

std::map<std::string, Checkpoint::Array> FinalTensors(const std::string& directory) {
  return LoadCheckpoint(RunFiles(directory).checkpoint).arrays;
}

bool SameTensors(const std::string& a, const std::string& b) {
  const auto left = FinalTensors(a), right = FinalTensors(b);
  if (left.size() != right.size()) return false;
  for (const auto& [name, array] : left) {
    if (!right.contains(name) || array.values != right.at(name).values) return false;
  }
  return true;
}

void RequireSameRun(const std::string& a, const std::string& b) {
  const RunData left = ReadRun(RunFiles(a).run), right = ReadRun(RunFiles(b).run);
  const std::vector<std::string> expected = Lines(left), got = Lines(right);
  REQUIRE(expected.size() == got.size());
  for (std::size_t i = 0; i < expected.size(); ++i) REQUIRE(expected[i] == got[i]);
  CHECK(left.status() == right.status());
  CHECK(SameTensors(a, b));
}

}  // namespace

TEST_CASE(
    "a run stopped at any step and resumed equals the uninterrupted run to the bit, for every variant") {
  const Workspace space;
  for (const VariantInfo& info : AttentionVariants()) {
    AttentionOptions keys;
    std::string attention = "attention: {variant: " + info.name;
    for (const Setting& key : info.bind(keys)) {
      if (key.name == "m") attention += ", m: 8";
      if (key.name == "redraw") attention += ", redraw: 5";
      if (key.name == "proposal") attention += ", proposal: optimal";
      if (key.name == "init") attention += ", init: whitening";
    }
    const RunConfig config = space.Config(attention + "}\n");
    const std::string whole = space.At("whole-" + info.name), parts = space.At("parts-" + info.name);
    CHECK(TrainUntil(config, whole, 0).status == RunStatus::kDone);
    for (const Index stop : {1, 5, 4, 3})  // at 6 and 10 health and evaluation are due

      CHECK(TrainUntil(config, parts, stop).status == RunStatus::kStopped);
    CHECK(TrainUntil(config, parts, 0).status == RunStatus::kDone);
    INFO(info.name);
    RequireSameRun(whole, parts);
  }
}

TEST_CASE("fp64 and bf16 runs, gradient accumulation and frozen parameters resume to the same bits") {
  const Workspace space;
  const char* overrides =
      "seed: 3\nattention: {variant: darkformer, m: 8}\n"
      "optim: {trainable: ['attn.{q,k,v}', attn.M], schedule: wsd, decay: 5, warmup: 3}\n";
  RunConfig config = space.Config(overrides);
  config.train.accumulate = 3;
  for (const std::string precision : {"fp64", "bf16"}) {
    config.train.precision = precision;
    const std::string whole = space.At("whole-" + precision), parts = space.At("parts-" + precision);
    TrainUntil(config, whole, 0);
    for (const Index stop : {2, 11}) TrainUntil(config, parts, stop);
    TrainUntil(config, parts, 0);
    INFO(precision);
    RequireSameRun(whole, parts);
  }
}

TEST_CASE(
    "a run killed with kill -9 at 50 random moments loses nothing flushed and ends with the same bits") {
  const Workspace space;
  const RunConfig config = space.Config("attention: {variant: darkformer, m: 8, redraw: 5}\n");
  TrainUntil(config, space.At("whole"), 0);
  std::mt19937 random(1);
  const std::string killed = space.At("killed");
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      execl(DARKFORMER, "darkformer", "train", RunFiles(space.At("whole")).config.c_str(), "--out",
            killed.c_str(), "--resume", "--quiet", "--threads", "1", "--set",
            ("data.cache=" + space.At("cache")).c_str(), nullptr);
      _exit(127);
    }
    usleep(std::uniform_int_distribution<useconds_t>(0, 60000)(random));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    if (std::filesystem::exists(RunFiles(killed).run) ||
        std::filesystem::exists(RunFiles(killed).run + ".journal")) {
      const RunData run =
          ReadRun(RunFiles(killed).run);  // readable at any moment, steps in order and once each
      for (std::size_t s = 0; s < run.steps.size(); ++s) CHECK(run.steps[s].step == static_cast<Index>(s));
    }
  }
  CHECK(TrainUntil(config, killed, 0).status == RunStatus::kDone);
  RequireSameRun(space.At("whole"), killed);
}

TEST_CASE(
    "a finished run is not touched, another config is refused, and a directory is not reused silently") {
  const Workspace space;
  const RunConfig config = space.Config();
  TrainUntil(config, space.At("run"), 0);
  const auto written = std::filesystem::last_write_time(RunFiles(space.At("run")).run);
  CHECK(TrainUntil(config, space.At("run"), 0).status == RunStatus::kDone);
  CHECK(std::filesystem::last_write_time(RunFiles(space.At("run")).run) == written);
  CHECK_THROWS_WITH(TrainUntil(space.Config("seed: 2\n"), space.At("run"), 0),
                    Catch::Contains("another config"));
  RunConfig rounded = config;
  rounded.train.precision = "bf16";
  CHECK_THROWS_WITH(TrainUntil(rounded, space.At("run"), 0), Catch::Contains("another config"));
  TrainRequest fresh;
  fresh.directory = space.At("run");
  CHECK_THROWS_WITH(TrainRun(config, fresh), Catch::Contains("already holds a run"));
}

TEST_CASE("a run directory in use is refused before anything is touched") {
  const Workspace space;
  std::filesystem::create_directories(space.At("run"));
  const RunLock lock(space.At("run"));
  CHECK_THROWS_WITH(TrainUntil(space.Config(), space.At("run"), 0), Catch::Contains("in use"));
  CHECK_FALSE(std::filesystem::exists(RunFiles(space.At("run")).run));
}

}  // namespace dark
