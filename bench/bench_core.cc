// How fast the hot parts are, on one thread, beside the limit of the machine: the largest rate that a matrix
// product reaches here. FLOP/s counts useful operations only, by the formula beside each benchmark.
#include <benchmark/benchmark.h>

#include "core/model/model.h"
#include "core/tensor/matmul.h"
#include "core/tensor/parallel.h"
#include "tests/core/attention_harness.h"

namespace dark {
namespace {

void CountFlops(benchmark::State& state, double flops_an_iteration) {
  state.counters["FLOP/s"] = benchmark::Counter(flops_an_iteration * static_cast<double>(state.iterations()),
                                                benchmark::Counter::kIsRate);
}

void CountTokens(benchmark::State& state, Index tokens_an_iteration) {
  state.counters["tokens/s"] = benchmark::Counter(
      static_cast<double>(tokens_an_iteration * state.iterations()), benchmark::Counter::kIsRate);
}

// 2·n³: the practical peak.
void MatrixProduct(benchmark::State& state, Operands operands) {
  const Index n = state.range(0);
  std::vector<float> a(static_cast<std::size_t>(n * n), 1), b = a, c = a;
  for (auto _ : state) {
    Gemm(Op::kNone, Op::kTranspose, n, n, n, {a.data(), n}, {b.data(), n}, 0.0f, c.data(), n, operands);
    benchmark::DoNotOptimize(c.data());
  }
  CountFlops(state, 2.0 * static_cast<double>(n * n * n));
}
BENCHMARK_CAPTURE(MatrixProduct, fp32, Operands::kFull)->Arg(64)->Arg(256)->Arg(1024);
BENCHMARK_CAPTURE(MatrixProduct, bf16, Operands::kBf16)->Arg(64)->Arg(256)->Arg(1024);

// Forward and backward of one attention layer: 4 heads of 64, m 64, one sequence of T tokens.
void Attention(benchmark::State& state, const std::string& variant) {
  const Index context = state.range(0);
  testing::AttentionHarness<float> harness({.variant = variant}, {1, context, 4, 4, 4, 64, 64}, 0.5);
  for (auto _ : state) {
    harness.Forward();
    harness.Backward();
  }
  CountTokens(state, context);
}
BENCHMARK_CAPTURE(Attention, exact, "exact")
    ->RangeMultiplier(4)
    ->Range(512, 8192)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Attention, performer, "performer")
    ->RangeMultiplier(4)
    ->Range(512, 8192)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Attention, darkformer, "darkformer")
    ->RangeMultiplier(4)
    ->Range(512, 8192)
    ->Unit(benchmark::kMillisecond);

// Forward and backward of a whole model, 6·parameters·tokens; attention's own products are not counted.
void ModelStep(benchmark::State& state, const std::string& variant) {
  ModelOptions options;
  options.layers = 2;
  options.width = state.range(0);
  Resolve(options);
  const BatchShape shape{8, 128, 256};
  Model<float> model(options, {.variant = variant}, shape, 1);
  model.Allocate();
  const std::vector<std::int32_t> tokens(static_cast<std::size_t>(shape.batch * shape.context), 7);
  model.SetBatch(tokens.data(), tokens.data());
  for (auto _ : state) {
    model.parameters().RestartGradients();
    model.ForwardBackward(1e-3);
  }
  const Index count = shape.batch * shape.context;
  CountTokens(state, count);
  CountFlops(state, 6.0 * static_cast<double>(model.parameters().count() * count));
}
BENCHMARK_CAPTURE(ModelStep, exact, "exact")->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ModelStep, performer, "performer")->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ModelStep, darkformer, "darkformer")->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace dark

int main(int argc, char** argv) {
  omp_set_num_threads(1);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
