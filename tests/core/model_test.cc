#include "core/model/model.h"

#include <catch2/catch.hpp>

#include "tests/core/count_allocations.h"
#include "tests/core/fixture.h"

namespace dark {
namespace {

using nlohmann::json;

ModelOptions FromFixture(const json& c) {
  ModelOptions o;
  o.layers = c["layers"];
  o.width = c["width"];
  o.heads = c["heads"];
  o.kv_heads = c["kv_heads"];
  o.head_dim = c["head_dim"];
  o.ff = c["ff"];
  o.norm = c["norm"];
  o.activation = c["activation"];
  o.embed_scale = c["embed_scale"];
  o.tied = c["tied"];
  o.rope_base = c["rope_base"];
  o.norm_eps = c["norm_eps"];
  return o;
}

ModelOptions Small(double init_std = 0.2) {  // large enough for attention to matter in an untrained model
  ModelOptions o;
  o.layers = 2;
  o.width = 32;
  o.heads = 4;
  o.kv_heads = 2;
  o.init_std = init_std;
  Resolve(o);
  return o;
}

struct Tokens {
  std::vector<std::int32_t> inputs, targets;
  Tokens(Index count, Index vocab) {
    Stream stream(3, "tokens");
    for (Index i = 0; i < count; ++i) {
      inputs.push_back(static_cast<std::int32_t>(stream.Below(static_cast<std::uint64_t>(vocab))));
      targets.push_back(static_cast<std::int32_t>(stream.Below(static_cast<std::uint64_t>(vocab))));
    }
  }
};

template <class T>
double Loss(Model<T>& model, const Tokens& tokens) {
  model.SetBatch(tokens.inputs.data(), tokens.targets.data());
  const LossSums sums = model.Forward();
  return sums.loss / static_cast<double>(sums.tokens);
}

AttentionOptions Variant(const std::string& name, Index m = 64) {
  AttentionOptions o;
  o.variant = name;
  o.m = m;
  return o;
}

}  // namespace

TEST_CASE("Gemma and Llama decoders equal an independent implementation: loss, logits and every gradient") {
  for (const char* name : {"decoder_gemma", "decoder_llama"}) {
    const json f = testing::LoadFixture(name);
    const ModelOptions options = FromFixture(f["config"]);
    const BatchShape shape{2, f["config"]["context"], f["config"]["vocab"]};
    Model<double> model(options, Variant("exact"), shape, 1);
    model.Allocate();
    REQUIRE(model.parameters().nodes().size() == f["weights"].size());
    for (const Node<double>& node : model.parameters().nodes())
      testing::Load(f["weights"][node.name], node.value);
    const auto inputs = f["tokens"]["data"].get<std::vector<std::int32_t>>();
    const auto targets = f["targets"]["data"].get<std::vector<std::int32_t>>();
    model.SetBatch(inputs.data(), targets.data());
    const LossSums sums = model.Forward();
    const double scale = 1 / static_cast<double>(sums.tokens);
    CHECK(sums.loss * scale == Approx(f["loss"].get<double>()).epsilon(1e-10));
    testing::SpoilGradients(model.parameters());
    CHECK(model.ForwardBackward(scale).loss == sums.loss);
    for (const Node<double>& node : model.parameters().nodes()) {
      INFO(name << " " << node.name);
      CHECK(testing::Distance(f["gradients"][node.name], node.grad) < 1e-9);
    }
    std::vector<double> logits, all;
    for (Index row = 0; row < shape.batch * shape.context; ++row) {
      model.NextLogits(row, logits);
      all.insert(all.end(), logits.begin(), logits.end());
    }
    CHECK(testing::Distance(f["logits"], all.data()) < 1e-9);
  }
}

TEST_CASE("darkformer-exact at M = I is exact attention to rounding") {
  const Tokens tokens(2 * 80, 50);
  Model<double> exact(Small(), Variant("exact"), {2, 80, 50}, 5);
  Model<double> dark(Small(), Variant("darkformer-exact"), {2, 80, 50}, 5);
  exact.Allocate();
  dark.Allocate();
  CHECK(Loss(dark, tokens) == Approx(Loss(exact, tokens)).epsilon(1e-13));
}

TEST_CASE("performer approaches exact attention at fixed weights as m grows, with slope about -1/2") {
  const Tokens tokens(2 * 80, 50);
  Model<double> exact(Small(0.05), Variant("exact"), {2, 80, 50}, 5);
  exact.Allocate();
  Loss(exact, tokens);
  const Node<double>& target = *exact.layers()[0].out;
  std::vector<double> errors;
  for (const Index m : {16, 256, 4096}) {
    Model<double> model(Small(0.05), Variant("performer", m), {2, 80, 50}, 5);
    model.Allocate();
    double square = 0;
    for (Index draw = 0; draw < 8; ++draw) {
      model.Redraw(draw);
      Loss(model, tokens);
      square += (model.layers()[0].out->Value() - target.Value()).squaredNorm() / 8;
    }
    errors.push_back(std::sqrt(square / target.Value().squaredNorm()));
  }
  INFO("relative errors " << errors[0] << " " << errors[1] << " " << errors[2]);
  CHECK(errors[2] < 0.05);
  for (const std::size_t i : {0U, 1U}) {
    const double slope = std::log(errors[i + 1] / errors[i]) / std::log(16.0);
    CHECK(slope == Approx(-0.5).margin(0.12));
  }
}

TEST_CASE("variants share initial weights and base draws") {
  Model<float> performer(Small(), Variant("performer", 16), {1, 8, 50}, 9);
  Model<float> dark(Small(), Variant("darkformer", 24), {1, 8, 50}, 9);
  performer.Allocate();
  dark.Allocate();
  for (const Node<float>& node : performer.parameters().nodes()) {
    const auto& others = dark.parameters().nodes();
    const auto same = std::find_if(others.begin(), others.end(),
                                   [&](const Node<float>& other) { return other.name == node.name; });
    REQUIRE(same != others.end());
    CHECK(std::equal(node.value, node.value + node.size(), same->value));
  }
  // The first 16 rows of the 24 are the 16: a draw does not depend on m.
  const auto a = performer.layers()[1].features->map().omega(), b = dark.layers()[1].features->map().omega();
  CHECK(std::equal(a.begin(), a.begin() + 16 * 8, b.begin()));
}

TEST_CASE("every draw differs between layers, heads and redraws") {
  Model<float> model(Small(), Variant("performer", 8), {1, 8, 50}, 9);
  model.Allocate();
  std::vector<std::vector<float>> draws;
  for (Index count = 0; count < 5; ++count) {
    model.Redraw(count);
    for (const AttentionLayer<float>& layer : model.layers()) {
      const auto omega = layer.features->map().omega();
      for (Index head = 0; head < 2; ++head)
        draws.emplace_back(omega.begin() + head * 64, omega.begin() + (head + 1) * 64);
    }
  }
  for (std::size_t i = 0; i < draws.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK(draws[i] != draws[j]);
  }
}

TEST_CASE("whitening gives mapped inputs the covariance s²I, layer by layer") {
  const Tokens tokens(8 * 64, 50);
  for (const auto& [name, scale] : {std::pair{"unit", 1.0}, std::pair{"temperature", std::pow(8.0, -0.25)},
                                    std::pair{"small", std::pow(8.0, -0.5)}}) {
    AttentionOptions attention = Variant("darkformer");
    attention.init = "whitening";
    attention.whitening_scale = name;
    attention.loading = 1e-12;
    Model<double> model(Small(), attention, {8, 64, 50}, 5);
    model.Allocate();
    model.SetBatch(tokens.inputs.data(), tokens.targets.data());
    model.Calibrate();
    for (const AttentionLayer<double>& layer : model.layers()) {
      // Key head 0 and the two query heads that read it share one M: pooled, centred within queries and
      // within keys.
      Eigen::MatrixXd scatter = Eigen::MatrixXd::Zero(8, 8);
      double freedom = 0;
      const auto add = [&](const Eigen::MatrixXd& x) {
        const Eigen::MatrixXd centred = x.rowwise() - x.colwise().mean();
        scatter += centred.transpose() * centred;
        freedom += static_cast<double>(x.rows() - 1);
      };
      Eigen::MatrixXd queries(2 * 512, 8);
      queries << layer.q->Value().middleCols(0, 8), layer.q->Value().middleCols(8, 8);
      add(queries);
      add(layer.k->Value().middleCols(0, 8));
      const Eigen::MatrixXd expected = scale * scale * Eigen::MatrixXd::Identity(8, 8);
      CHECK((scatter / freedom - expected).cwiseAbs().maxCoeff() < 1e-8);
    }
  }
}

TEST_CASE("calibration runs a pass only for what reads its batch") {
  const Tokens tokens(8 * 16, 50);
  for (const auto& [init, proposal] : {std::pair{"identity", "isotropic"},
                                       std::pair{"whitening", "isotropic"}, std::pair{"identity", "sderf"}}) {
    AttentionOptions attention = Variant("darkformer");
    attention.init = init;
    attention.proposal = proposal;
    Model<float> model(Small(), attention, {8, 16, 50}, 5);
    model.Allocate();
    model.SetBatch(tokens.inputs.data(), tokens.targets.data());
    model.Calibrate();
    double seconds = 0;
    for (const OpProfile& op : model.tape().Profile()) seconds += op.forward_seconds;
    CHECK((seconds > 0) == (init == std::string("whitening") || proposal == std::string("sderf")));
  }
}

TEST_CASE("memory of a random-feature model grows linearly with T up to 32768") {
  const auto bytes = [](Index context) {
    Model<float> model(Small(), Variant("darkformer", 32), {1, context, 50}, 1);
    model.Allocate();
    return static_cast<double>(model.tape().bytes());
  };
  for (const Index context : {4096, 8192, 16384}) CHECK(bytes(2 * context) < 2.02 * bytes(context));
}

TEST_CASE("a random-feature model trains forward and backward at T = 32768") {
  ModelOptions options = Small();
  options.layers = 1;
  const Tokens tokens(32768, 50);
  Model<float> model(options, Variant("darkformer", 16), {1, 32768, 50}, 1);
  model.Allocate();
  CHECK(std::isfinite(Loss(model, tokens)));
  model.ForwardBackward(1.0 / 32768);
  for (const Node<float>& node : model.parameters().nodes()) CHECK(AllFinite(node.grad, node.size()));
}

TEST_CASE("a forward and backward pass of the whole model allocates nothing") {
  // Counted over operator new; see attention_contract_test.cc for each variant.
  const Tokens tokens(2 * 40, 50);
  Model<float> model(Small(), Variant("darkformer", 16), {2, 40, 50}, 1);
  model.Allocate();
  Loss(model, tokens);
  model.ForwardBackward(1);
  const std::size_t allocations = testing::CountAllocations([&] {
    model.ForwardBackward(1);
    model.Forward();
  });
  CHECK(allocations == 0);
}

TEST_CASE("in bf16 the loss is near that of fp32 but another, and sampling sees the logits of training") {
  const Tokens tokens(2 * 80, 50);
  for (const char* variant : {"exact", "performer", "darkformer"}) {
    Model<float> full(Small(), Variant(variant), {2, 80, 50}, 5);
    Model<float> bf16(Small(), Variant(variant), {2, 80, 50}, 5, Operands::kBf16);
    full.Allocate();
    bf16.Allocate();
    const double loss = Loss(bf16, tokens);
    INFO(variant);
    CHECK(loss == Approx(Loss(full, tokens)).epsilon(1e-2));
    CHECK(loss != Approx(Loss(full, tokens)).epsilon(1e-6));
    CHECK(bf16.ForwardBackward(1.0 / 160).loss / 160 == loss);
    for (const Node<float>& node : bf16.parameters().nodes()) CHECK(AllFinite(node.grad, node.size()));
    double from_logits = 0;
    std::vector<double> logits;
    for (Index row = 0; row < 160; ++row) {
      bf16.NextLogits(row, logits);
      const Eigen::Map<const Eigen::ArrayXd> z(logits.data(), 50);
      from_logits += std::log(z.exp().sum()) - z[tokens.targets[static_cast<std::size_t>(row)]];
    }
    CHECK(from_logits / 160 == Approx(loss).epsilon(1e-6));
  }
}

}  // namespace dark
