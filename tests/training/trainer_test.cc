#include "experiments/training/trainer.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/tensor/parallel.h"
#include "tests/training/harness.h"

namespace dark {
namespace {

using testing::Workspace;

std::vector<StepRow> Steps(const RunConfig& config, Index count) {
  const Dataset data = Dataset::Open(config.data, config.train.context);
  std::vector<StepRow> rows;
  Divergence divergence;
  if (config.train.precision == "fp64") {
    Trainer<double> trainer(config, data);
    for (Index i = 0; i < count; ++i) rows.push_back(trainer.Step(divergence));
  } else {
    Trainer<float> trainer(config, data);
    for (Index i = 0; i < count; ++i) rows.push_back(trainer.Step(divergence));
  }
  return rows;
}

}  // namespace

TEST_CASE("the same tokens a step give the same curve whatever the micro-batch (field cases C21, C25)") {
  const Workspace space;
  RunConfig config = space.Config();
  config.train.precision = "fp64";
  config.train.batch = 12;
  const std::vector<StepRow> whole = Steps(config, 10);
  for (const Index batch : {6, 3, 1}) {
    config.train.batch = batch;
    config.train.accumulate = 12 / batch;
    const std::vector<StepRow> parts = Steps(config, 10);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      CHECK(parts[i].tokens == whole[i].tokens);
      CHECK(parts[i].loss == Approx(whole[i].loss).epsilon(1e-9));
      CHECK(parts[i].grad_norm == Approx(whole[i].grad_norm).epsilon(1e-7));
    }
  }
}

TEST_CASE("losses do not depend on the number of threads, to the bit") {
  const Workspace space;
  RunConfig config = space.Config("attention: {variant: darkformer, m: 8}\n");
  const int threads = ThreadCount();
  std::vector<double> first;
  for (const int count : {1, 2, 5}) {
    omp_set_num_threads(count);
    std::vector<double> losses;
    for (const StepRow& row : Steps(config, 6)) losses.push_back(row.loss);
    if (first.empty()) first = losses;
    CHECK(losses == first);
  }
  omp_set_num_threads(threads);
}

TEST_CASE("training lowers the loss, fp32 follows fp64, bf16 loosely, and step 0 changes the weights") {
  const Workspace space;
  for (const VariantInfo& info : AttentionVariants()) {
    RunConfig config = space.Config("attention: {variant: " + info.name + "}\noptim: {lr: 0.01}\n");
    config.train.steps = 60;
    const std::vector<StepRow> single = Steps(config, 60);
    config.train.precision = "fp64";
    const std::vector<StepRow> twice = Steps(config, 10);
    INFO(info.name);
    CHECK(single.back().loss < single.front().loss - 1);
    CHECK(single.front().update_rms > 0);
    for (std::size_t i = 0; i < twice.size(); ++i)
      CHECK(single[i].loss == Approx(twice[i].loss).epsilon(1e-4));
    config.train.precision = "bf16";
    const std::vector<StepRow> rounded = Steps(config, 10);
    for (std::size_t i = 0; i < rounded.size(); ++i) {
      CHECK(rounded[i].loss == Approx(twice[i].loss).epsilon(1e-2));
      CHECK(rounded[i].loss != single[i].loss);
    }
  }
}

TEST_CASE("exact and darkformer-exact at M = I train alike when M is frozen") {
  const Workspace space;
  const char* frozen = "optim: {trainable: ['attn.{q,k,v,o}', mlp, '*norm', embed]}\n";
  RunConfig exact = space.Config(frozen),
            dark = space.Config(std::string("attention: {variant: darkformer-exact}\n") + frozen);
  exact.train.precision = dark.train.precision = "fp64";
  const std::vector<StepRow> a = Steps(exact, 15), b = Steps(dark, 15);
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i].loss == Approx(b[i].loss).epsilon(1e-10));
}

TEST_CASE("evaluation changes nothing and twice gives the same bits (field case C02)") {
  const Workspace space;
  const RunConfig config = space.Config("attention: {variant: performer, m: 8, redraw: 1}\n");
  const Dataset data = Dataset::Open(config.data, config.train.context);
  Trainer<float> plain(config, data), evaluated(config, data);
  Divergence divergence;
  for (int i = 0; i < 6; ++i) {
    const EvalRow first = evaluated.Evaluate(), second = evaluated.Evaluate();
    CHECK(first.loss == second.loss);
    CHECK(evaluated.counters().redraw == plain.counters().redraw);
    CHECK(plain.Step(divergence).loss == evaluated.Step(divergence).loss);
  }
  CHECK(plain.counters().redraw == 5);
}

TEST_CASE("redraws count optimiser steps, also with gradient accumulation") {
  const Workspace space;
  RunConfig config = space.Config("attention: {variant: performer, m: 8, redraw: 4}\n");
  config.train.accumulate = 3;
  const Dataset data = Dataset::Open(config.data, config.train.context);
  Trainer<float> trainer(config, data);
  Divergence divergence;
  std::vector<Index> redraws;
  for (int i = 0; i < 10; ++i) {
    trainer.Step(divergence);
    redraws.push_back(trainer.counters().redraw);
  }
  CHECK(redraws == std::vector<Index>{0, 0, 0, 0, 1, 1, 1, 1, 2, 2});
}

TEST_CASE("a run that becomes non-finite ends as diverged with step and tensor, its rows intact") {
  const Workspace space;
  const RunConfig config = space.Config("optim: {lr: 1000, clip: 0, schedule: constant, weight_decay: 10}\n");
  TrainRequest request;
  request.directory = space.At("run");
  const TrainResult result = TrainRun(config, request);
  CHECK(result.status == RunStatus::kDiverged);
  const RunData run = ReadRun(RunFiles(request.directory).run);
  CHECK(run.status() == RunStatus::kDiverged);
  REQUIRE_FALSE(run.steps.empty());
  CHECK(run.attributes.at("bad_step") == std::to_string(run.steps.back().step));
  CHECK_FALSE(run.attributes.at("bad_tensor").empty());
  CHECK(std::isfinite(run.steps.front().loss));
  request.resume = true;
  CHECK(TrainRun(config, request).status == RunStatus::kDiverged);
}

TEST_CASE("NaN and infinity put into a weight are caught at that step and named") {
  const Workspace space;
  const RunConfig config = space.Config();
  const Dataset data = Dataset::Open(config.data, config.train.context);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Trainer<float> trainer(config, data);
    Divergence divergence;
    trainer.Step(divergence);
    CHECK(divergence.tensor.empty());
    for (Node<float>& node : trainer.model().parameters().nodes()) {
      if (node.name == "layer.1.mlp.up") node.value[3] = bad;
    }
    const StepRow row = trainer.Step(divergence);
    CHECK_FALSE(std::isfinite(row.loss));
    CHECK(divergence.tensor == "layer.1.mlp.up.out");
  }
}

TEST_CASE(
    "every optimiser step, evaluation at step 0, the interval and the end, and health are in the file") {
  const Workspace space;
  const RunConfig config = space.Config("attention: {variant: darkformer, m: 8}\n");
  TrainRequest request;
  request.directory = space.At("run");
  CHECK(TrainRun(config, request).status == RunStatus::kDone);
  const RunData run = ReadRun(RunFiles(request.directory).run);
  CHECK(run.steps.size() == 24);
  std::vector<Index> evals, health;
  for (const EvalRow& row : run.evals) evals.push_back(row.step);
  for (const HealthRow& row : run.health) health.push_back(row.step);
  CHECK(evals == std::vector<Index>{0, 5, 10, 15, 20, 24});
  CHECK(health == std::vector<Index>{0, 0, 6, 6, 12, 12, 18, 18});
  CHECK(run.Config("attention.m") == "8");
  CHECK(run.attributes.at("config_hash") == ConfigHash(config));
  for (const char* key :
       {"git_revision", "build", "cpu", "threads", "data_hash", "split_hash", "vocab", "parameters"})
    CHECK_FALSE(run.attributes.at(key).empty());
}

TEST_CASE("a time limit checkpoints and stops") {
  const Workspace space;
  TrainRequest request;
  request.directory = space.At("run");
  request.max_seconds = 1e-6;
  CHECK(TrainRun(space.Config(), request).status == RunStatus::kStopped);
  request.max_seconds = 0;
  request.resume = true;
  CHECK(TrainRun(space.Config(), request).status == RunStatus::kDone);
}

}  // namespace dark
