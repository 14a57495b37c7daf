#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <vector>

#include "core/ops.h"
#include "core/random.h"
#include "core/tensor/bf16_matmul.h"
#include "tests/core/backward.h"

namespace dark {
namespace {

/// norm → gate, up → gated → down (+ residual) in bf16. With `whole`, another op reads all of them, so that
/// the tape has to keep them as they are.
struct FeedForward {
  Parameters<float> parameters{3};
  Tape<float> tape{Operands::kBf16};
  Node<float>*normed, *hidden, *out;
  std::vector<Node<float>*> weights;
  std::vector<float> direction;

  FeedForward(Index rows, Index width, Index ff, bool whole) {
    Node<float>* x = Weight("x", rows, width);
    normed = RmsNorm(tape, "normed", x, Weight("gain", 1, width), 1e-6F, false);
    Node<float>* gate = Linear(tape, "gate", normed, Weight("gate", ff, width));
    Node<float>* up = Linear(tape, "up", normed, Weight("up", ff, width));
    hidden = Gated(tape, "hidden", gate, up, Gate::kGelu);
    out = Linear(tape, "out", hidden, Weight("down", width, ff), x);
    if (whole)
      tape.Record(
          {"reader", {}, {}}, {normed, gate, up, hidden}, [] {}, [] {});
    direction.resize(static_cast<std::size_t>(out->size()));
    Stream(4, "direction").Normals(std::span<float>(direction));
    tape.Record(
        {"objective", {}, {}}, {out}, [] {},
        [this] {
          out->StartGradient();
          for (std::size_t i = 0; i < direction.size(); ++i) out->grad[i] += direction[i];
        });
    parameters.Allocate();
    tape.Allocate();
  }
  Node<float>* Weight(const std::string& name, Index rows, Index cols) {
    weights.push_back(parameters.AddNormal(name, rows, cols, 0.5));
    return weights.back();
  }
  void Run() {
    tape.Forward();
    testing::BackwardAnew(parameters, tape);
  }
};

bool SameBits(const float* a, const float* b, Index count) {
  return std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("what the tape keeps as bfloat16 takes half the memory and changes no bit") {
  // Within the caches; past them also where rounded, with rows that do not end with a register.
  for (const auto& [rows, width, ff] : {std::array<Index, 3>{40, 24, 70}, {1400, 33, 1601}}) {
    FeedForward rounded(rows, width, ff, false), whole(rows, width, ff, true);
    rounded.Run();
    whole.Run();
    CHECK(SameBits(rounded.out->value, whole.out->value, whole.out->size()));
    for (std::size_t i = 0; i < whole.weights.size(); ++i) {
      INFO(whole.weights[i]->name);
      CHECK(SameBits(rounded.weights[i]->grad, whole.weights[i]->grad, whole.weights[i]->size()));
    }
    // Floats: half of normed and hidden, and half of the gradients of gate and up. The other op reads last,
    // so that normed's gradient lives beside all the others.
    const Index saved = kBf16Instructions ? rows * (width + ff) / 2 + rows * ff : 0, beside = rows * width;
    const auto difference = static_cast<Index>(whole.tape.bytes() - rounded.tape.bytes()) / 4;
    CHECK(std::abs(difference - saved - beside) <= 64);
    CHECK((whole.hidden->value != nullptr && (rounded.hidden->value == nullptr) == kBf16Instructions));
  }
}

TEST_CASE("a value that is not finite is found in bfloat16 too") {
  FeedForward block(8, 16, 32, false);
  block.weights[0]->value[3] = std::numeric_limits<float>::infinity();
  block.tape.Forward();
  REQUIRE(block.tape.FirstNonFinite() != nullptr);
  CHECK(block.tape.FirstNonFinite()->name == "normed");
}

TEST_CASE("a gradient to which more than one op adds stays whole") {
  Parameters<float> parameters(3);
  Tape<float> tape(Operands::kBf16);
  Node<float>* w = parameters.AddNormal("w", 8, 8, 1);
  Node<float>* once = Linear(tape, "once", parameters.AddNormal("x", 4, 8, 1), w);
  Node<float>* twice = Linear(tape, "twice", once, w);
  Gated(tape, "first", once, twice, Gate::kGelu);
  Gated(tape, "second", twice, twice, Gate::kGelu);
  tape.Allocate();
  CHECK((twice->grad != nullptr && twice->rounded_grad == nullptr));
  CHECK((once->grad != nullptr && once->value != nullptr));  // read by an op of each kind
}

TEST_CASE("only float in bf16 is kept as bfloat16") {
  Parameters<double> parameters(3);
  Tape<double> tape(Operands::kBf16);
  Node<double>* x = parameters.AddNormal("x", 4, 8, 1);
  Node<double>* normed = RmsNorm(tape, "normed", x, parameters.AddVector("gain", 8, 1), 1e-6, false);
  Linear(tape, "y", normed, parameters.AddNormal("w", 8, 8, 1));
  tape.Allocate();
  CHECK((normed->value != nullptr && normed->rounded_value == nullptr));
}

}  // namespace dark
