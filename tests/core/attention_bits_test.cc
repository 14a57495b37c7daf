// What of attention is the same to the bit: across threads, places in the batch, memory and what comes later.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "core/tensor/parallel.h"
#include "tests/core/attention_cases.h"
#include "tests/core/attention_harness.h"

namespace dark {
namespace {

using testing::AttentionHarness;
using testing::Case;
using testing::Cases;

std::vector<Case> AllCases(Index context) {
  std::vector<Case> cases = Cases(context);
  for (const auto& wide : {testing::WideCases(context), testing::WideFeatureCases(context)})
    cases.insert(cases.end(), wide.begin(), wide.end());
  return cases;
}

/// Calls body(case, operands) in fp32 and in bf16.
template <class Body>
void ForAllCases(Index context, const Body& body) {
  for (const Case& c : AllCases(context)) {
    for (const Operands operands : {Operands::kFull, Operands::kBf16}) {
      INFO(c.label << ", T " << context << ", bf16 " << (operands == Operands::kBf16));
      body(c, operands);
    }
  }
}

/// The output, and the gradients of all nodes.
std::vector<float> Results(AttentionHarness<float>& harness) {
  std::vector<float> all = harness.Gradients();
  all.insert(all.end(), harness.layer.out->value, harness.layer.out->value + harness.layer.out->size());
  return all;
}

}  // namespace

TEST_CASE("attention at t does not see anything after t, to the bit") {
  ForAllCases(130, [](const Case& c, Operands operands) {
    AttentionHarness<float> harness(c.options, c.heads, 1, 10000, 7, operands);
    harness.Forward();
    const Index cut = 77;
    const std::vector<float> before(harness.layer.out->value,
                                    harness.layer.out->value + harness.layer.out->size());
    for (Node<float>* node : {harness.q, harness.k, harness.v}) {
      for (Index b = 0; b < c.heads.batch; ++b) {
        for (Index t = cut + 1; t < c.heads.context; ++t)
          node->Value().row(b * c.heads.context + t).array() = 50.0f + static_cast<float>(t);
      }
    }
    harness.Forward();
    bool same = true;
    const Index cols = harness.layer.out->cols;
    for (Index b = 0; b < c.heads.batch; ++b) {
      for (Index i = b * c.heads.context * cols; i < (b * c.heads.context + cut + 1) * cols; ++i)
        same = same && before[static_cast<std::size_t>(i)] == harness.layer.out->value[i];
    }
    CHECK(same);
  });
}

TEST_CASE("attention gives the same bits for any number of threads, and the same bits again") {
  const int threads = ThreadCount();
  ForAllCases(130, [](const Case& c, Operands operands) {
    std::vector<std::vector<float>> results;
    for (const int count : {1, 2, 7, 1}) {
      omp_set_num_threads(count);
      AttentionHarness<float> harness(c.options, c.heads, 1, 10000, 7, operands);
      harness.Forward();
      harness.Backward();
      results.push_back(Results(harness));
    }
    for (const std::vector<float>& result : results) CHECK((result == results[0]));
  });
  omp_set_num_threads(threads);
}

TEST_CASE("attention writes gradients to which nothing was added, whatever their memory holds") {
  for (const Index context : {1, 70, 130, 530}) {
    ForAllCases(context, [](const Case& c, Operands operands) {
      AttentionHarness<float> harness(c.options, c.heads, 1, 10000, 7, operands);
      harness.Forward();
      harness.Backward();
      const std::vector<float> written = harness.Gradients();
      for (Node<float>* node : harness.Nodes()) node->Grad().setZero();
      harness.tape.Backward();
      CHECK((harness.Gradients() == written));
    });
  }
}

TEST_CASE("attention takes nothing from what its memory held: NaN that passed through leaves no trace") {
  for (const Index context : {1, 40, 70, 130, 530}) {
    ForAllCases(context, [](const Case& c, Operands operands) {
      const auto results = [&](bool spoiled) {
        AttentionHarness<float> harness(c.options, c.heads, 1, 10000, 7, operands);
        if (spoiled) {
          for (Node<float>* node : {harness.q, harness.k, harness.v}) {
            const std::vector<float> values(node->value, node->value + node->size());
            node->Value().setConstant(std::numeric_limits<float>::quiet_NaN());
            harness.Forward();
            harness.Backward();
            std::copy(values.begin(), values.end(), node->value);
          }
        }
        harness.Forward();
        harness.Backward();
        return Results(harness);
      };
      CHECK((results(true) == results(false)));
    });
  }
}

TEST_CASE("features that are kept and features that are taken again give the same bits") {
  for (const Index context : {1, 70, 130, 530}) {
    ForAllCases(context, [](const Case& c, Operands operands) {
      const auto results = [&](Index most_kept) {
        AttentionHarness<float> harness(c.options, c.heads, 1, 10000, 7, operands, most_kept);
        harness.Forward();
        harness.Backward();
        return Results(harness);
      };
      CHECK((results(0) == results(kMostKeptFeatures)));
    });
  }
}

TEST_CASE("what a sequence gets does not depend on its place in the batch, to the bit") {
  for (const Index context : {70, 130}) {
    for (const Case& c : AllCases(context)) {
      if (c.heads.batch != 2) continue;
      for (const Index most_kept : {Index{0}, kMostKeptFeatures}) {
        INFO(c.label << ", T " << context << ", kept " << most_kept);
        AttentionHarness<float> harness(c.options, c.heads, 1, 10000, 7, Operands::kFull, most_kept);
        const auto same = [&](float* data, Index size) {
          return std::equal(data, data + size / 2, data + size / 2);
        };
        const auto repeat = [](float* data, Index size) {
          std::copy(data, data + size / 2, data + size / 2);
        };
        for (Node<float>* node : {harness.q, harness.k, harness.v}) repeat(node->value, node->size());
        repeat(harness.direction.data(), harness.layer.out->size());
        harness.Forward();
        harness.Backward();
        CHECK(same(harness.layer.out->value, harness.layer.out->size()));
        for (Node<float>* node : {harness.q, harness.k, harness.v}) CHECK(same(node->grad, node->size()));
      }
    }
  }
}

}  // namespace dark
