#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "core/ops.h"
#include "core/tape/gradient_check.h"
#include "tests/core/attention_harness.h"
#include "tests/core/fixture.h"

namespace dark {
namespace {

using nlohmann::json;
using testing::Distance;
using testing::Load;
using testing::LoadFixture;
using testing::OpHarness;
using testing::Values;

constexpr double kTolerance = 1e-10;

void CheckGated(const json& f, Gate act) {
  OpHarness h;
  Node<double>*gate = h.Input("gate", 5, 6), *up = h.Input("up", 5, 6);
  Node<double>* y = Gated(h.tape, "y", gate, up, act);
  h.Objective(y, Values(f["dy"]));
  Load(f["gate"], gate->value);
  Load(f["up"], up->value);
  h.Run();
  CHECK(Distance(f["y"], y->value) < kTolerance);
  CHECK(Distance(f["dgate"], gate->grad) < kTolerance);
  CHECK(Distance(f["dup"], up->grad) < kTolerance);
}

void CheckNorm(const json& f, bool one_plus) {
  OpHarness h;
  Node<double>*x = h.Input("x", 5, 6), *w = h.Input("w", 1, 6);
  Node<double>* y = RmsNorm(h.tape, "y", x, w, f["eps"].get<double>(), one_plus);
  h.Objective(y, Values(f["dy"]));
  Load(f["x"], x->value);
  Load(f["w"], w->value);
  h.Run();
  CHECK(Distance(f["y"], y->value) < kTolerance);
  CHECK(Distance(f["dx"], x->grad) < kTolerance);
  CHECK(Distance(f["dw"], w->grad) < kTolerance);
}

void CheckCrossEntropy(const json& f) {
  OpHarness h;
  Node<double>*x = h.Input("x", 6, 5), *w = h.Input("w", 9, 5);
  const auto targets = f["targets"]["data"].get<std::vector<std::int32_t>>();
  LossPort<double> port;
  port.targets = targets.data();
  CrossEntropy(h.tape, x, w, f["cap"].get<double>(), &port);
  h.parameters.Allocate();
  h.tape.Allocate();
  Load(f["x"], x->value);
  Load(f["w"], w->value);
  h.tape.Forward();
  port.scale = 1 / static_cast<double>(port.sums.tokens);
  h.Backward();
  CHECK(port.sums.loss * port.scale == Approx(f["loss"].get<double>()).epsilon(1e-11));
  CHECK(Distance(f["dx"], x->grad) < kTolerance);
  CHECK(Distance(f["dw"], w->grad) < kTolerance);
}

}  // namespace

TEST_CASE("ops equal PyTorch, forward and backward") {
  const json f = LoadFixture("ops");
  CheckNorm(f["rms_norm_w"], false);
  CheckNorm(f["rms_norm_one_plus_w"], true);
  CheckGated(f["geglu"], Gate::kGelu);
  CheckGated(f["swiglu"], Gate::kSilu);
  CheckCrossEntropy(f["cross_entropy"]);
  CheckCrossEntropy(f["cross_entropy_cap"]);
}

TEST_CASE("rotary embedding equals PyTorch, forward and backward") {
  const json f = LoadFixture("ops")["rope"];
  OpHarness h;
  Node<double>* x = h.Input("x", 14, 24);
  Node<double>* y = Rope(h.tape, "y", x, 7, 8, f["base"].get<double>(), 1.0);
  h.Objective(y, Values(f["dy"]));
  Load(f["x"], x->value);
  h.Run();
  CHECK(Distance(f["y"], y->value) < kTolerance);
  CHECK(Distance(f["dx"], x->grad) < kTolerance);
}

TEST_CASE("exact grouped-query attention equals PyTorch, forward and backward") {
  const json f = LoadFixture("ops")["softmax_attention"];
  testing::AttentionHarness<double> h({.variant = "exact"}, {2, 7, 4, 2, 2, 8, 8}, 1, 0);
  Load(f["q"], h.q->value);
  Load(f["k"], h.k->value);
  Load(f["v"], h.v->value);
  h.direction = Values(f["dout"]);
  h.Forward();
  h.Backward();
  CHECK(Distance(f["out"], h.layer.out->value) < kTolerance);
  CHECK(Distance(f["dq"], h.q->grad) < kTolerance);
  CHECK(Distance(f["dk"], h.k->grad) < kTolerance);
  CHECK(Distance(f["dv"], h.v->grad) < kTolerance);
}

TEST_CASE("random-feature attention with a geometry equals PyTorch, forward and backward") {
  const json fixture = LoadFixture("random_features");
  for (const auto& [name, rank] : {std::pair{"full_rank", 4}, std::pair{"low_rank", 3}}) {
    const json& f = fixture[name];
    AttentionOptions options{.variant = "darkformer", .m = 6, .share = "layer"};
    options.granularity = "layer";
    options.rank = rank;
    testing::AttentionHarness<double> h(options, {1, 9, 2, 1, 1, 4, 4}, 1, 0);
    Node<double>* geometry = h.Nodes().back();
    Load(f["q"], h.q->value);
    Load(f["k"], h.k->value);
    Load(f["v"], h.v->value);
    const double unscale = std::pow(4.0, 0.25);  // the fixture's q and k are scaled by d^-1/4 already
    h.q->Value() *= unscale;
    h.k->Value() *= unscale;
    Load(f["M"], geometry->value);
    Load(f["omega"], h.layer.features->map().omega().data());
    h.direction = Values(f["dout"]);
    h.Forward();
    h.Backward();
    h.q->Grad() *= unscale;
    h.k->Grad() *= unscale;
    INFO(name);
    CHECK(Distance(f["out"], h.layer.out->value) < kTolerance);
    CHECK(Distance(f["dq"], h.q->grad) < kTolerance);
    CHECK(Distance(f["dk"], h.k->grad) < kTolerance);
    CHECK(Distance(f["dv"], h.v->grad) < kTolerance);
    CHECK(Distance(f["dM"], geometry->grad) < kTolerance);
  }
}

TEST_CASE("gradients of embedding, linear with residual, per-head norm and cross-entropy equal differences") {
  const auto [vocab, head] =
      GENERATE(table<Index, Index>({{7, 3}, {19, 17}}));  // below a register, and above
  OpHarness h;
  const std::vector<std::int32_t> tokens = {3, 1, 4, 1, 5, 0, 2, 6}, targets = {1, -1, 1, 5, 0, 2, 6, -1};
  const std::int32_t* inputs = tokens.data();
  Node<double>*table = h.Input("table", vocab, 2 * head), *w = h.Input("w", 2 * head, 2 * head),
  *gain = h.Input("gain", 1, head);
  Node<double>* x = Embedding(h.tape, table, &inputs, 8, 1.7);
  Node<double>* y = RmsNorm(h.tape, "norm", Linear(h.tape, "linear", x, w, x), gain, 1e-6, true);
  LossPort<double> port;
  port.targets = targets.data();
  CrossEntropy(h.tape, y, table, 3.0, &port);
  h.parameters.Allocate();
  h.tape.Allocate();
  const auto loss = [&] {
    h.tape.Forward();
    return port.sums.loss;
  };
  const GradientError worst = CheckGradients(loss, [&] { h.Backward(); }, {table, w, gain});
  INFO(worst.node << "[" << worst.element << "] " << worst.analytic << " against " << worst.numeric);
  CHECK(worst.error < 1e-6);
  CHECK(port.sums.tokens == 6);
}

TEST_CASE("cross-entropy over many token blocks equals the sum over tokens") {
  const Index tokens = 200, width = 4;
  std::vector<std::int32_t> targets(static_cast<std::size_t>(tokens));
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<std::int32_t>(i * 37 % 20000);
  const Index vocab = 20000;  // leaves room for the logits of 64 tokens at a time
  OpHarness h;
  Node<double>*x = h.Input("x", tokens, width), *w = h.Input("w", vocab, width);
  LossPort<double> port;
  port.targets = targets.data();
  CrossEntropy(h.tape, x, w, 0.0, &port);
  h.parameters.Allocate();
  h.tape.Allocate();
  h.tape.Forward();
  h.Backward();
  double expected = 0;
  Eigen::MatrixXd expected_dx = Eigen::MatrixXd::Zero(tokens, width);
  for (Index n = 0; n < tokens; ++n) {
    const Eigen::VectorXd z = w->Value() * x->Value().row(n).transpose();
    const double log_sum = z.maxCoeff() + std::log((z.array() - z.maxCoeff()).exp().sum());
    const auto target = targets[static_cast<std::size_t>(n)];
    expected += log_sum - z[target];
    Eigen::VectorXd dz = (z.array() - log_sum).exp();
    dz[target] -= 1;
    expected_dx.row(n) = dz.transpose() * w->Value();
  }
  CHECK(port.sums.loss == Approx(expected).epsilon(1e-12));
  CHECK(x->Grad().allFinite());
  CHECK((x->Grad() - expected_dx).cwiseAbs().maxCoeff() < 1e-10);
}

TEST_CASE("the first of equal logits is the prediction, and a logit that is NaN shows in the loss") {
  const std::vector<std::int32_t> targets = {0, 1, 2, 0};
  OpHarness h;
  Node<double>*x = h.Input("x", 4, 3), *w = h.Input("w", 20, 3);
  LossPort<double> port;
  port.targets = targets.data();
  CrossEntropy(h.tape, x, w, 0.0, &port);
  h.parameters.Allocate();
  h.tape.Allocate();
  x->Value().setZero();
  w->Value().setOnes();
  h.tape.Forward();
  CHECK(port.sums.correct == 2);
  CHECK(port.sums.loss == Approx(4 * std::log(20)));
  for (const Index row : {Index{5}, Index{18}}) {
    w->Value().setOnes();
    w->Value()(row, 1) = std::numeric_limits<double>::quiet_NaN();
    h.tape.Forward();
    CHECK(std::isnan(port.sums.loss));
  }
}

TEST_CASE("a frozen weight gets no gradient and passes it on") {
  OpHarness h;
  Node<double>*x = h.Input("x", 3, 4), *w = h.Input("w", 2, 4);
  w->trainable = false;
  h.Objective(Linear(h.tape, "y", x, w), {1, 2, 3, 4, 5, 6});
  h.Run();
  CHECK(w->Grad().cwiseAbs().maxCoeff() == 0);
  CHECK(x->Grad().cwiseAbs().minCoeff() > 0);
}

}  // namespace dark
