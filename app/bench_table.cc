#include "app/bench_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/config/attention_keys.h"

namespace dark {
namespace {

/// The seconds that products take at the peaks of their operands.
double ProductSeconds(const Work& work, const StepCase& step, const StepTiming& timing,
                      const MachineLimits& machine) {
  const double speed = timing.FmaRate() / machine.flops_fp32;  // of the machine, since it was measured
  if (step.precision == "fp64") return work.flops / (speed * machine.flops_fp64);
  return ((work.flops - work.bf16_flops - work.split_flops) / machine.flops_fp32 +
          work.bf16_flops / machine.flops_bf16 + work.split_flops / machine.flops_split) /
         speed;
}

Work WorkOf(const OpProfile& op) { return op.forward_work + op.backward_work; }

double PercentOfPeak(const StepCase& step, const StepTiming& timing, const MachineLimits& machine) {
  double seconds = 0;
  for (const OpProfile& op : timing.ops) seconds += ProductSeconds(WorkOf(op), step, timing, machine);
  return 100 * seconds / timing.Median();
}

/// Useful FLOPs of a step in per cent of the multiply-adds that its time had room for.
double PercentOfFma(const StepCase& step, const StepTiming& timing, const MachineLimits& machine) {
  const double ratio = step.precision == "fp64" ? machine.flops_fp64 / machine.flops_fp32 : 1;
  return 100 * timing.flops / (timing.Median() * ratio * timing.FmaRate());
}

struct Bound {
  double seconds;
  const char* name;
};

Bound BoundOf(const Work& work, double compute, const MachineLimits& machine) {
  const double memory = work.bytes / machine.bandwidth;
  return compute >= memory ? Bound{compute, "compute"} : Bound{memory, "bandwidth"};
}

std::string FeaturesText(const StepCase& step) {
  return UsesFeatures(step.attention) ? std::to_string(step.attention.m) : "-";
}

}  // namespace

bool UsesFeatures(AttentionOptions attention) {
  const std::vector<Setting> keys = VariantKeys(attention);
  return std::any_of(keys.begin(), keys.end(), [](const Setting& key) { return key.name == "m"; });
}

std::string BenchHeader(const StepCase& step, const std::map<int, MachineLimits>& limits) {
  std::string text;
  for (const auto& [threads, machine] : limits)
    text += fmt::format(
        "machine, {} thread{}: FMA peak {:.1f} GFLOP/s fp32, {:.1f} fp64, {:.1f} bf16; split fp32 {:.1f}; "
        "memory {:.1f} GB/s\n",
        threads, threads == 1 ? "" : "s", machine.flops_fp32 / 1e9, machine.flops_fp64 / 1e9,
        machine.flops_bf16 / 1e9, machine.flops_split / 1e9, machine.bandwidth / 1e9);
  const ModelOptions& m = step.model;
  text += fmt::format("model: width {}, {} layers, {} heads of {} ({} for keys), ff {}, vocabulary {}\n",
                      m.width, m.layers, m.heads, m.head_dim, m.kv_heads, m.ff, step.vocab);
  text +=
      "useful FLOPs: 2·m·n·k for each matrix product, two more in the backward pass; attention counts causal "
      "pairs\n"
      "  (exact: 2·(d + d)·T(T+1)/2 a head) or the recurrence (features: 2·m·(d + d) a query and a key). "
      "Products\n"
      "  taken twice and elementwise arithmetic count nothing. The step is forward, backward and AdamW.\n"
      "% FMA: these FLOPs, of the multiply-adds of fp32 (or fp64) that the time had room for. Large products "
      "of fp32\n"
      "  are split into products of bf16 where the processor has matrix tiles: above 100 % they beat "
      "multiply-adds, as bf16 does.\n"
      "% peak: what these FLOPs take at the peak of the instructions that they are made of, of the time "
      "taken. The peaks\n"
      "  follow the machine's speed before and after each step.\n"
      "kB a token: activations, gradients and working memory; parameters come on top.\n\n";
  return text + fmt::format("{:<17}{:>7}{:>5}{:>10}{:>8}{:>11}{:>9}{:>11}{:>9}{:>7}{:>8}{:>9}\n", "variant",
                            "T", "m", "precision", "threads", "ms a step", "± %", "tokens/s", "GFLOP/s",
                            "% FMA", "% peak", "RSS MB");
}

std::string BenchLine(const StepCase& step, const StepTiming& timing, const MachineLimits& machine) {
  const auto [low, high] = std::minmax_element(timing.seconds.begin(), timing.seconds.end());
  const double median = timing.Median(), rate = timing.flops / median;
  return fmt::format(
      "{:<17}{:>7}{:>5}{:>10}{:>8}{:>11.1f}{:>9.1f}{:>11.0f}{:>9.1f}{:>7.1f}{:>8.1f}{:>9.0f}\n",
      step.attention.variant, step.context, FeaturesText(step), step.precision, step.threads, 1e3 * median,
      50 * (*high - *low) / median, static_cast<double>(step.batch * step.context) / median, rate / 1e9,
      PercentOfFma(step, timing, machine), PercentOfPeak(step, timing, machine), timing.peak_memory / 1e6);
}

std::string OpTable(const StepCase& step, const StepTiming& timing, const MachineLimits& machine) {
  std::string text = fmt::format(
      "{}, T {}, m {}, {}, {} thread{}, {:.1f} kB a token\n  {:<20}{:>12}{:>13}{:>9}{:>11}{:>12}\n",
      step.attention.variant, step.context, FeaturesText(step), step.precision, step.threads,
      step.threads == 1 ? "" : "s", timing.bytes_per_token / 1e3, "op", "forward ms", "backward ms", "% step",
      "limit", "% of limit");
  const double median = timing.Median();
  for (const OpProfile& op : timing.ops) {
    const double seconds = op.forward_seconds + op.backward_seconds;
    if (seconds == 0) continue;
    const Work work = WorkOf(op);
    const Bound bound = BoundOf(work, ProductSeconds(work, step, timing, machine), machine);
    text += fmt::format("  {:<20}{:>12.2f}{:>13.2f}{:>9.1f}{:>11}{:>12.0f}\n", op.kind,
                        1e3 * op.forward_seconds, 1e3 * op.backward_seconds, 100 * seconds / median,
                        bound.name, 100 * bound.seconds / seconds);
  }
  return text + "\n";
}

std::string BenchCsvHeader() {
  return "variant,context,m,precision,threads,batch,op,forward_ms,backward_ms,ms,tokens_per_s,flops,bytes,"
         "percent_of_fma,percent_of_peak,limit,percent_of_limit,peak_rss_bytes,bytes_per_token\n";
}

std::string BenchCsv(const StepCase& step, const StepTiming& timing, const MachineLimits& machine) {
  const double median = timing.Median();
  const std::string m = FeaturesText(step);
  const std::string key = fmt::format("{},{},{},{},{},{}", step.attention.variant, step.context,
                                      m == "-" ? "" : m, step.precision, step.threads, step.batch);
  std::string text =
      fmt::format("{},step,,,{:.4f},{:.1f},{:.0f},,{:.2f},{:.2f},,,{:.0f},{:.0f}\n", key, 1e3 * median,
                  static_cast<double>(step.batch * step.context) / median, timing.flops,
                  PercentOfFma(step, timing, machine), PercentOfPeak(step, timing, machine),
                  timing.peak_memory, timing.bytes_per_token);
  for (const OpProfile& op : timing.ops) {
    const double seconds = op.forward_seconds + op.backward_seconds;
    if (seconds == 0) continue;
    const Work work = WorkOf(op);
    const double products = ProductSeconds(work, step, timing, machine);
    const Bound bound = BoundOf(work, products, machine);
    text += fmt::format("{},{},{:.4f},{:.4f},{:.4f},,{:.0f},{:.0f},,{:.2f},{},{:.1f},,\n", key, op.kind,
                        1e3 * op.forward_seconds, 1e3 * op.backward_seconds, 1e3 * seconds, work.flops,
                        work.bytes, 100 * products / seconds, bound.name, 100 * bound.seconds / seconds);
  }
  return text;
}

}  // namespace dark
