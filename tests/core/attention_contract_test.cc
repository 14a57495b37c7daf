// The contract of every attention variant (DESIGN.md), looped over the registry: a new variant is tested
// before its author writes a test.
#include <catch2/catch.hpp>
#include <cmath>

#include "core/tape/gradient_check.h"
#include "tests/core/attention_cases.h"
#include "tests/core/attention_harness.h"
#include "tests/core/count_allocations.h"
#include "tests/core/largest.h"

namespace dark {
namespace {

using testing::AttentionHarness;
using testing::Case;
using testing::Cases;
using testing::HasKey;
using testing::Heads;

// out_t = Σ_{s≤t} w(q_t,k_s) v_s / Σ w: the explicit T×T computation from the layer's own weights.
template <class T>
double DistanceToExplicit(const AttentionHarness<T>& harness) {
  const AttentionLayer<T>& layer = harness.layer;
  const HeadShape& s = layer.shape;
  double worst = 0;
  for (Index b = 0; b < s.batch; ++b) {
    for (Index h = 0; h < s.heads; ++h) {
      const auto q = Head(layer.q->value, layer.q->cols, s.context, b, h, s.dim);
      const auto k = Head(layer.k->value, layer.k->cols, s.context, b, h / s.queries_per_key(), s.dim);
      const auto v =
          Head(layer.v->value, layer.v->cols, s.context, b, h * s.value_heads / s.heads, s.value_dim);
      const auto out = Head(layer.out->value, layer.out->cols, s.context, b, h, s.value_dim);
      for (Index t = 0; t < s.context; ++t) {
        std::vector<double> sum(static_cast<std::size_t>(s.value_dim));
        double normaliser = 0;
        for (Index other = 0; other <= t; ++other) {
          const double weight = layer.Weight(h, q.row(t), k.row(other));
          normaliser += weight;
          for (std::size_t c = 0; c < sum.size(); ++c)
            sum[c] += weight * static_cast<double>(v.row(other)[c]);
        }
        for (std::size_t c = 0; c < sum.size(); ++c)
          worst = testing::Largest(worst, std::abs(sum[c] / normaliser - static_cast<double>(out.row(t)[c])));
      }
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("attention equals the explicit T×T computation") {
  for (const Index context : {1, 2, 17, 64, 65, 130}) {
    for (const Case& c : Cases(context)) {
      INFO(c.label << ", T " << context);
      AttentionHarness<double> harness(c.options, c.heads);
      harness.Forward();
      CHECK(DistanceToExplicit(harness) < 1e-10);
      AttentionHarness<float> single(c.options, c.heads);
      single.Forward();
      CHECK(DistanceToExplicit(single) < 2e-5);
    }
  }
}

TEST_CASE("attention gradients equal central differences for q, k, v and every parameter") {
  // Below a chunk, across chunks, across a segment of the backward pass.
  for (const auto& [context, samples] : {std::pair<Index, Index>{9, 40}, {70, 8}, {130, 8}, {530, 1}}) {
    for (const Case& c : Cases(context)) {
      AttentionHarness<double> harness(c.options, c.heads);
      const GradientError worst = CheckGradients([&] { return harness.Forward(); },
                                                 [&] { harness.Backward(); }, harness.Nodes(), samples);
      INFO(c.label << ", T " << context << ": " << worst.node << "[" << worst.element << "] analytic "
                   << worst.analytic << " numeric " << worst.numeric);
      CHECK(worst.error < 1e-6);
    }
  }
}

TEST_CASE("attention backward accumulates and a step allocates nothing") {
  for (const Case& c : Cases(70)) {
    INFO(c.label);
    AttentionHarness<double> harness(c.options, c.heads);
    harness.Forward();
    harness.Backward();
    const std::vector<double> once = harness.Gradients();
    const std::size_t allocations = testing::CountAllocations([&] {
      harness.tape.Forward();
      harness.tape.Backward();  // without starting gradients anew
    });
    CHECK(allocations == 0);
    std::size_t i = 0;
    double worst = 0;
    for (const Node<double>* node : harness.Nodes()) {
      for (Index e = 0; e < node->size(); ++e, ++i)
        worst = testing::Largest(worst, std::abs(node->grad[e] - 2 * once[i]));
    }
    CHECK(worst < 1e-9);
  }
}

TEST_CASE("attention is finite at input scales 0.1 to 10, and an underflow is counted") {
  for (const double scale : {0.1, 1.0, 3.0, 10.0}) {
    for (const Case& c : Cases(70)) {
      INFO(c.label << ", inputs × " << scale);
      AttentionHarness<float> harness(c.options, c.heads, scale);
      harness.Forward();
      harness.Backward();
      CHECK(harness.tape.FirstNonFinite() == nullptr);
      for (const Node<float>* node : harness.Nodes()) CHECK(AllFinite(node->grad, node->size()));
      if (harness.layer.features == nullptr) continue;
      const NormaliserHealth health = harness.layer.features->Health();
      CHECK((health.underflow_rows > 0) == (health.min_denominator == 0));
    }
  }
}

TEMPLATE_TEST_CASE("rows whose normaliser underflows are zero with zero gradient", "", float, double) {
  AttentionOptions options;
  options.variant = "performer";
  options.m = 6;
  AttentionHarness<TestType> harness(options, Heads(1, 70, 2, 1, 4), 1000);
  harness.Forward();
  harness.Backward();
  CHECK(harness.layer.features->Health().underflow_rows > 0);
  CHECK(harness.tape.FirstNonFinite() == nullptr);
  for (const Node<TestType>* node : harness.Nodes()) CHECK(AllFinite(node->grad, node->size()));
}

TEST_CASE("a jump of hundreds of nats inside a chunk and at its borders keeps the causal result") {
  AttentionOptions options;
  options.variant = "performer";
  options.m = 6;
  for (const Index jump : {0, 5, 63, 64, 100}) {
    AttentionHarness<double> harness(options, Heads(1, 130, 2, 1, 4), 1, 0);
    harness.k->Value().row(jump) *= 8;
    harness.q->Value().row(jump) *= 8;
    harness.Forward();
    harness.Backward();
    INFO("jump at " << jump);
    CHECK(DistanceToExplicit(harness) < 1e-8);
  }
}

TEST_CASE("redraws change Ω, the same count gives the same Ω, and learned maps keep theirs") {
  for (const VariantInfo& info : AttentionVariants()) {
    AttentionOptions options;
    options.variant = info.name;
    options.m = 6;
    AttentionHarness<double> harness(options, Heads(1, 20, 4, 2, 4));
    const double first = harness.Forward();
    if (harness.layer.features != nullptr) harness.layer.features->map().Redraw(3);
    const double redrawn = harness.Forward();
    if (harness.layer.features != nullptr) harness.layer.features->map().Redraw(0);
    INFO(info.name);
    CHECK(harness.Forward() == first);
    CHECK((redrawn != first) == HasKey(info, "redraw"));
  }
}

/// ‖a − b‖/‖a‖.
double Distance(const Node<double>& a, const Node<float>& b, bool gradient) {
  const auto matrix = [&](const auto& node) {
    return (gradient ? node.Grad() : node.Value()).template cast<double>().eval();
  };
  return (matrix(a) - matrix(b)).norm() / std::max(matrix(a).norm(), 1e-30);
}

TEST_CASE("exact attention of wide heads, in float, is that in double but for rounding") {
  for (const Index context : {1, 70, 130, 530}) {
    for (const testing::Case& c : testing::WideCases(context)) {
      INFO(c.label << ", T " << context);
      AttentionHarness<double> full(c.options, c.heads);
      AttentionHarness<float> single(c.options, c.heads);
      full.Forward();
      single.Forward();
      full.Backward();
      single.Backward();
      CHECK(Distance(*full.layer.out, *single.layer.out, false) < 1e-6);
      for (std::size_t i = 0; i < full.Nodes().size(); ++i) {
        INFO(full.Nodes()[i]->name);
        // The only query sees the only key, whatever they are: gradients are 0 but for rounding.
        if (context > 1 || full.Nodes()[i]->name == "in.v")
          CHECK(Distance(*full.Nodes()[i], *single.Nodes()[i], true) < 2e-6);
      }
    }
  }
}

TEST_CASE("random features of any shape, in float and in bf16, are those in double but for rounding") {
  for (const Index context : {1, 31, 64, 65, 130, 530}) {
    for (const testing::Case& c : testing::WideFeatureCases(context)) {
      AttentionHarness<double> full(c.options, c.heads, 0.7);
      full.Forward();
      full.Backward();
      for (const Operands operands : {Operands::kFull, Operands::kBf16}) {
        const bool rounded = operands == Operands::kBf16;
        INFO(c.label << ", T " << context << ", bf16 " << rounded);
        AttentionHarness<float> single(c.options, c.heads, 0.7, 10000, 7, operands);
        single.Forward();
        single.Backward();
        CHECK(Distance(*full.layer.out, *single.layer.out, false) < (rounded ? 0.004 : 2e-6));
        for (std::size_t i = 0; i < full.Nodes().size(); ++i) {
          INFO(full.Nodes()[i]->name);
          // The only query sees the only key, whatever they are: gradients are 0 but for rounding.
          if (context > 1 || full.Nodes()[i]->name == "in.v")
            CHECK(Distance(*full.Nodes()[i], *single.Nodes()[i], true) < (rounded ? 0.015 : 4e-6));
        }
      }
    }
  }
}

// Rounded logits would show as errors of their exponentials: with these inputs out would be off by 0.006.
TEST_CASE("in bf16 all products but those of logits of random features round their operands") {
  for (const VariantInfo& info : AttentionVariants()) {
    AttentionOptions options;
    options.variant = info.name;
    options.m = 6;
    const HeadShape heads = Heads(2, 150, 4, 2, 4);
    const double input_std = info.name == "exact" || info.name == "darkformer-exact" ? 1 : 4;
    AttentionHarness<double> full(options, heads, input_std);
    AttentionHarness<float> bf16(options, heads, input_std, 10000, 7, Operands::kBf16);
    full.Forward();
    bf16.Forward();
    full.Backward();
    bf16.Backward();
    INFO(info.name);
    const double rounded = full.layer.uniform ? 0 : 1e-3;  // what at least rounding does, if there is any
    const double error = Distance(*full.layer.out, *bf16.layer.out, false);
    CHECK((rounded <= error && error < 0.004));
    for (std::size_t i = 0; i < full.Nodes().size(); ++i) {
      INFO(full.Nodes()[i]->name);
      const double gradient_error = Distance(*full.Nodes()[i], *bf16.Nodes()[i], true);
      CHECK((rounded <= gradient_error && gradient_error < 0.015));
    }
  }
}

}  // namespace dark
