#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "core/error.h"
#include "core/optim/adamw.h"
#include "core/optim/patterns.h"
#include "core/optim/schedule.h"
#include "core/random.h"
#include "tests/core/fixture.h"

namespace dark {
namespace {

OptimOptions Schedule(const std::string& name, Index warmup, Index decay, double ratio) {
  OptimOptions o;
  o.lr = 1;
  o.schedule = name;
  o.warmup = warmup;
  o.decay = decay;
  o.min_lr_ratio = ratio;
  return o;
}

struct Expected {
  Index step;
  double lr;
};

}  // namespace

TEST_CASE("schedules at every boundary") {
  const struct {
    OptimOptions options;
    Index steps;
    std::vector<Expected> table;
  } cases[] = {
      {Schedule("constant", 4, 0, 0.1), 10, {{0, .25}, {1, .5}, {3, 1}, {4, 1}, {9, 1}}},
      {Schedule("linear", 4, 0, 0.1), 10, {{0, .25}, {3, 1}, {4, .85}, {5, .7}, {8, .25}, {9, .1}}},
      {Schedule("cosine", 4, 0, 0.1), 10, {{0, .25}, {3, 1}, {6, .55}, {9, .1}}},
      {Schedule("cosine", 0, 0, 0), 2, {{0, .5}, {1, 0}}},
      {Schedule("cosine", 0, 0, 0.1), 1, {{0, .1}}},
      {Schedule("linear", 1, 0, 0.1), 1, {{0, 1}}},
      {Schedule("cosine", 10, 0, 0.1), 10, {{0, .1}, {9, 1}}},
      {Schedule("wsd", 2, 4, 0.2), 10, {{0, .5}, {1, 1}, {5, 1}, {6, .8}, {7, .6}, {9, .2}}},
      {Schedule("wsd", 2, 0, 0.2), 10, {{0, .5}, {2, 1}, {9, 1}}},
      {Schedule("wsd", 0, 10, 0), 10, {{0, .9}, {9, 0}}},
  };
  for (const auto& c : cases) {
    for (const Expected& e : c.table) {
      INFO(c.options.schedule << " warmup " << c.options.warmup << " of " << c.steps << ", step " << e.step);
      CHECK(LearningRate(c.options, c.steps, e.step) == Approx(e.lr).margin(1e-12));
    }
  }
}

TEST_CASE("schedules are finite, never rise after warm-up, end at the minimum and do not start at 0") {
  for (const char* name : {"constant", "linear", "cosine", "wsd"}) {
    for (const Index steps : {1, 2, 3, 17}) {
      for (Index warmup = 0; warmup <= steps; ++warmup) {
        const OptimOptions o = Schedule(name, warmup, (steps - warmup) / 2, 0.25);
        double last = std::numeric_limits<double>::infinity();
        for (Index step = 0; step < steps; ++step) {
          const double lr = LearningRate(o, steps, step);
          REQUIRE(std::isfinite(lr));
          REQUIRE(lr > 0);
          if (step >= warmup) REQUIRE(lr <= last);
          last = lr;
        }
        const bool decays =
            std::string(name) != "constant" && warmup < steps && (o.decay > 0 || name[0] != 'w');
        CHECK(last == Approx(decays ? 0.25 : 1.0));
      }
    }
  }
}

TEST_CASE("AdamW with clipping equals PyTorch") {
  const nlohmann::json f = testing::LoadFixture("adamw");
  Parameters<double> parameters(1);
  Node<double>* w = parameters.AddNormal("w", 3, 4, 1);
  Node<double>* norm = parameters.AddNormal("norm", 1, 4, 1);
  parameters.Allocate();
  testing::Load(f["start"]["w"], w->value);
  testing::Load(f["start"]["norm"], norm->value);
  OptimOptions o;
  o.weight_decay = f["weight_decay"];
  AdamW<double> optimizer(o, parameters);
  for (const auto& step : f["steps"]) {
    testing::Load(step["gradient"]["w"], w->grad);
    testing::Load(step["gradient"]["norm"], norm->grad);
    const UpdateStats stats = optimizer.Step(step["lr"]);
    CHECK(stats.grad_norm == Approx(step["norm"].get<double>()).epsilon(1e-10));
    CHECK(stats.grad_norm_clipped == Approx(std::min(1.0, stats.grad_norm)));
    // PyTorch divides by norm + 1e-6 when it clips.
    CHECK(testing::Distance(step["after"]["w"], w->value) < 1e-7);
    CHECK(testing::Distance(step["after"]["norm"], norm->value) < 1e-7);
  }
}

TEST_CASE("zero gradients shrink decayed parameters by exactly 1 - lr·decay and leave others alone") {
  Parameters<double> parameters(1);
  for (const char* name : {"embed", "layer.0.attn.q", "layer.0.attn.M", "layer.0.attn_norm",
                           "layer.0.attn.q_norm", "layer.0.mlp.up", "final_norm"})
    parameters.AddNormal(name, 2, 3, 1);
  parameters.Allocate();
  AdamW<double> optimizer(OptimOptions(), parameters);
  std::vector<double> before;
  for (const Node<double>& node : parameters.nodes()) before.push_back(node.value[0]);
  optimizer.Step(0.5);
  std::size_t i = 0;
  for (const Node<double>& node : parameters.nodes()) {
    const bool decays =
        node.name == "embed" || node.name == "layer.0.attn.q" || node.name == "layer.0.mlp.up";
    INFO(node.name);
    CHECK(node.value[0] == (decays ? (1 - 0.5 * 0.1) * before[i] : before[i]));
    ++i;
  }
}

TEST_CASE("frozen parameters stay, factors scale the rate, the first step moves every trained one") {
  Parameters<double> parameters(1);
  for (const char* name : {"embed", "layer.0.attn.q", "layer.0.attn.o", "layer.0.attn.M"})
    parameters.AddNormal(name, 1, 2, 1);
  parameters.Allocate();
  OptimOptions o;
  o.weight_decay = 0;
  o.clip = 0;
  o.trainable = {"attn.{q,k,v}", "attn.M"};
  o.lr_factor = {{"M", 0.1}};
  AdamW<double> optimizer(o, parameters);
  std::vector<double> before;
  for (Node<double>& node : parameters.nodes()) {
    before.push_back(node.value[0]);
    node.grad[0] = 1;
  }
  const UpdateStats stats = optimizer.Step(0.01);
  const auto& nodes = parameters.nodes();
  CHECK(nodes[0].value[0] == before[0]);
  CHECK(nodes[1].value[0] == Approx(before[1] - 0.01));
  CHECK(nodes[2].value[0] == before[2]);
  CHECK(nodes[3].value[0] == Approx(before[3] - 0.001));
  CHECK(stats.grad_norm == Approx(std::sqrt(2)));
}

TEST_CASE("a gradient or parameter that is not finite is named, and a bad gradient changes nothing") {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Parameters<float> parameters(1);
    Node<float>*a = parameters.AddNormal("a", 1, 2, 1), *b = parameters.AddNormal("b", 1, 2, 1);
    parameters.Allocate();
    AdamW<float> optimizer(OptimOptions(), parameters);
    const float before = a->value[0];
    b->grad[1] = static_cast<float>(bad);
    CHECK(optimizer.Step(0.1).bad_tensor == "grad b");
    CHECK(a->value[0] == before);
    CHECK(optimizer.steps() == 0);
    b->grad[1] = 0;
    b->value[0] = static_cast<float>(bad);
    CHECK(optimizer.Step(0.1).bad_tensor == "b");
  }
}

TEST_CASE("name patterns") {
  CHECK(MatchesName("*", "layer.0.attn.q"));
  CHECK(MatchesName("attn.{q,k,v}", "layer.0.attn.q"));
  CHECK(MatchesName("attn.{q,k,v}", "layer.10.attn.v"));
  CHECK_FALSE(MatchesName("attn.{q,k,v}", "layer.0.attn.o"));
  CHECK_FALSE(MatchesName("attn.q", "layer.0.attn.q_norm"));
  CHECK(MatchesName("M", "layer.0.attn.M"));
  CHECK_FALSE(MatchesName("M", "layer.0.mlp.up"));
  CHECK(MatchesName("*norm", "layer.0.attn.q_norm"));
  CHECK_FALSE(MatchesName("norm", "layer.0.attn_norm"));
  CHECK(MatchesName("layer.{0,1}.mlp", "layer.1.mlp.up"));
  CHECK_FALSE(MatchesName("layer.1", "layer.10.mlp.up"));
}

TEST_CASE("a pattern that matches nothing is an error with its name") {
  Parameters<float> parameters(1);
  parameters.AddNormal("embed", 1, 2, 1);
  parameters.Allocate();
  OptimOptions o;
  o.trainable = {"attn.X"};
  CHECK_THROWS_WITH((AdamW<float>(o, parameters)), Catch::Contains("trainable") && Catch::Contains("attn.X"));
}

TEST_CASE("every element is updated and counted, whatever the size and what else trains") {
  const std::vector<Index> sizes = {1, 5000, 2048, 2049, 7, 64, 65, 3};
  OptimOptions o;
  o.trainable = {"w*"};
  Parameters<float> parameters(1);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    parameters.AddNormal("w" + std::to_string(i), 1, sizes[i], 1);
  parameters.AddNormal("frozen", 1, 3000, 1);
  parameters.Allocate();
  AdamW<float> optimizer(o, parameters);
  const double lr = 0.01;
  double gradient = 0, change = 0, norm = 0, count = 0, worst = 0;
  std::vector<std::vector<float>> before;
  Stream random(1, "gradients");
  for (Node<float>& node : parameters.nodes()) {
    before.emplace_back(node.value, node.value + node.size());
    random.Normals(std::span(node.grad, static_cast<std::size_t>(node.size())));
    if (node.trainable) gradient += node.Grad().cast<double>().squaredNorm();
  }
  const UpdateStats stats = optimizer.Step(lr);
  const double clip = 1 / std::sqrt(gradient);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Node<float>& node = parameters.nodes()[i];
    norm += node.Value().cast<double>().squaredNorm();
    for (Index e = 0; e < node.size(); ++e) {
      const double was = before[i][static_cast<std::size_t>(e)], moved = node.value[e] - was,
                   g = clip * node.grad[e];
      const double expected = node.trainable ? -lr * (g / (std::abs(g) + o.eps) + o.weight_decay * was) : 0;
      worst = testing::Largest(worst, std::abs(moved - expected));
      change += moved * moved;
    }
    if (node.trainable) count += static_cast<double>(node.size());
  }
  CHECK(worst < 1e-6);
  CHECK(stats.grad_norm == Approx(std::sqrt(gradient)).epsilon(1e-12));
  CHECK(stats.param_norm == Approx(std::sqrt(norm)).epsilon(1e-12));
  CHECK(stats.update_rms == Approx(std::sqrt(change / count)).epsilon(1e-6));  // differences are of floats
}

TEST_CASE("a parameter that no op has reached since the last step has no gradient") {
  Parameters<float> parameters(1);
  Node<float>*a = parameters.AddNormal("a", 1, 100, 1), *b = parameters.AddNormal("b", 1, 100, 1);
  parameters.Allocate();
  AdamW<float> optimizer(OptimOptions(), parameters);
  for (Node<float>* node : {a, b}) node->Grad().setOnes();
  CHECK(optimizer.Step(0.1).grad_norm == Approx(std::sqrt(200)));
  parameters.RestartGradients();
  a->StartGradient();
  a->grad[3] = 2;
  CHECK(optimizer.Step(0.1).grad_norm == 2);
}

}  // namespace dark
