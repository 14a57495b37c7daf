#include "experiments/benchmark/step_benchmark.h"

#include <omp.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/clock.h"
#include "core/model/model.h"
#include "core/optim/adamw.h"
#include "core/random.h"
#include "core/tensor/parallel.h"
#include "experiments/benchmark/machine.h"

namespace dark {
namespace {

const OptimOptions kOptim;

std::vector<std::int32_t> RandomTokens(const StepCase& step, const std::string& stream_name) {
  Stream stream(1, stream_name);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(step.batch * step.context));
  for (std::int32_t& token : tokens)
    token = static_cast<std::int32_t>(stream.Below(static_cast<std::uint64_t>(step.vocab)));
  return tokens;
}

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The ops of one kind together, as the mean of `steps` steps.
std::vector<OpProfile> ByKind(const std::vector<OpProfile>& ops, double steps) {
  std::map<std::string, OpProfile> kinds;
  for (const OpProfile& op : ops) {
    OpProfile& kind = kinds.try_emplace(op.kind, OpProfile{op.kind, {}, {}}).first->second;
    kind.forward_work += op.forward_work;
    kind.backward_work += op.backward_work;
    kind.forward_seconds += op.forward_seconds / steps;
    kind.backward_seconds += op.backward_seconds / steps;
  }
  std::vector<OpProfile> sorted;
  for (const auto& [name, kind] : kinds) sorted.push_back(kind);
  std::sort(sorted.begin(), sorted.end(), [](const OpProfile& a, const OpProfile& b) {
    return a.forward_seconds + a.backward_seconds > b.forward_seconds + b.backward_seconds;
  });
  return sorted;
}

template <class T>
class Bench final : public StepBench {
 public:
  explicit Bench(const StepCase& step)
      : model_(step.model, step.attention, {step.batch, step.context, step.vocab}, 1,
               OperandsOf(step.precision)),
        optimizer_(kOptim, model_.parameters()),
        inputs_(RandomTokens(step, "inputs")),
        targets_(RandomTokens(step, "targets")) {
    model_.Allocate();
    model_.SetBatch(inputs_.data(), targets_.data());
    Step();
  }

  StepTiming Run(std::size_t fewest, double min_seconds, bool beside_machine) override {
    ClearTimes();
    StepTiming timing;
    const auto start = Clock::now();
    double rate = beside_machine ? FmaRateNow(ThreadCount()) : 0;
    while (timing.seconds.size() < fewest || SecondsSince(start) < min_seconds) {
      const auto begin = Clock::now();
      Step();
      timing.seconds.push_back(SecondsSince(begin));
      if (!beside_machine) continue;
      const double before = std::exchange(rate, FmaRateNow(ThreadCount()));
      timing.fma.push_back(timing.seconds.back() * (before + rate) / 2);
    }
    Describe(timing);
    return timing;
  }

 private:
  void Step() {
    model_.parameters().RestartGradients();
    model_.ForwardBackward(1.0 / static_cast<double>(inputs_.size()));
    const auto start = Clock::now();
    optimizer_.Step(1e-4);
    optimizer_seconds_ += SecondsSince(start);
  }

  void ClearTimes() {
    model_.ClearTimes();
    optimizer_seconds_ = 0;
  }

  // AdamW reads p, g, m, v and writes p, m, v; the norm reads g.
  void Describe(StepTiming& timing) {
    std::vector<OpProfile> ops = model_.tape().Profile();
    for (const OpProfile& op : ops) timing.flops += op.forward_work.flops + op.backward_work.flops;
    timing.bytes_per_token = static_cast<double>(model_.tape().bytes()) / static_cast<double>(inputs_.size());
    ops.push_back(
        {"adamw", {}, StreamWork(8, model_.parameters().count(), sizeof(T)), 0, optimizer_seconds_});
    timing.ops = ByKind(ops, static_cast<double>(timing.seconds.size()));
    timing.peak_memory = PeakMemory();
  }

  Model<T> model_;
  AdamW<T> optimizer_;
  std::vector<std::int32_t> inputs_, targets_;
  double optimizer_seconds_ = 0;
};

}  // namespace

double StepTiming::Median() const { return MedianOf(seconds); }

double StepTiming::FmaRate() const { return MedianOf(fma) / MedianOf(seconds); }

std::unique_ptr<StepBench> MakeStepBench(const StepCase& step) {
  omp_set_num_threads(step.threads);
  ResetPeakMemory();
  if (step.precision == "fp64") return std::make_unique<Bench<double>>(step);
  return std::make_unique<Bench<float>>(step);
}

StepTiming TimeStep(const StepCase& step, double min_seconds, bool beside_machine) {
  return MakeStepBench(step)->Run(3, min_seconds, beside_machine);
}

}  // namespace dark
