#include "tests/analysis/synthetic.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/random.h"

namespace dark::analysis {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double Trend(const Synthetic& made, double step) {
  return made.floor + (made.initial - made.floor) * std::exp(-step / 60);
}

// How far above its trend a run is after its latest spike.
double Excess(const Synthetic& made, std::int64_t step) {
  double excess = 0;
  for (const std::int64_t spike : made.spikes)
    if (step >= spike) excess += 1.5 * std::exp(-static_cast<double>(step - spike) / 5);
  return excess;
}

std::map<std::string, std::string> Attributes(const Synthetic& made) {
  std::map<std::string, std::string> a = {
      {"name", NameOf(made)},
      {"seed", std::to_string(made.seed)},
      {"git_revision", "0123abcd"},
      {"build", "Release, GNU 12.2"},
      {"cpu", "Example CPU"},
      {"threads", "1"},
      {"host", "bench"},
      {"version", "0.1.0"},
      {"vocab", "256"},
      {"parameters", "123456"},
      {"data_hash", "55aa"},
      {"split_hash", made.split_hash},
      {"status", Name(made.death >= 0 ? RunStatus::kDiverged : made.status)},
      {"config.attention.variant", made.variant},
      {"config.optim.lr", fmt::format("{}", made.lr)},
      {"config.seed", std::to_string(made.seed)},
      {"config.train.steps", std::to_string(made.planned)},
      {"config.train.batch", "8"},
      {"config.train.context", "128"},
      {"config.train.accumulate", "1"},
      {"config.train.precision", "fp32"},
      {"config.model.layers", "2"},
      {"config.model.width", "64"},
      {"config.model.heads", "4"},
      {"config.model.kv_heads", "1"},
      {"config.model.head_dim", "16"},
      {"config.model.activation", "geglu"},
      {"config.optim.schedule", "cosine"},
      {"config.optim.warmup", "20"},
      {"config.optim.weight_decay", "0.1"},
      {"config.optim.clip", "1"},
      {"config.data.text", "text/<book> & more.txt"},
      {"config.data.tokenizer", "byte"}};
  if (made.m > 0) {
    a["config.attention.m"] = std::to_string(made.m);
    a["config.attention.draws"] = "orthogonal";
  }
  a["config_hash"] = fmt::format("{:016x}", HashName(NameOf(made) + made.split_hash));
  if (made.death >= 0) {
    a["bad_step"] = std::to_string(made.death);
    a["bad_tensor"] = "layer.0.attn.q";
    a["exit_reason"] = "loss is not finite";
  }
  return a;
}

StepRow StepOf(const Synthetic& made, std::int64_t step, Stream& stream) {
  StepRow row;
  row.step = step;
  const double excess = Excess(made, step);
  row.loss = Trend(made, static_cast<double>(step)) + excess + made.noise * stream.Normal();
  row.lr = made.lr;
  row.grad_norm = std::exp(0.15 * stream.Normal()) * (0.4 + 20 * excess);
  row.grad_norm_clipped = std::min(1.0, row.grad_norm);
  row.update_rms = made.lr;
  row.param_norm = 30;
  row.tokens = 1024;
  row.seconds = 0.01;
  if (step == made.death) row.loss = row.grad_norm = kNaN;
  return row;
}

}  // namespace

std::string NameOf(const Synthetic& made) {
  return fmt::format("{}{}_lr={}_s={}", made.variant, made.m > 0 ? fmt::format("_m={}", made.m) : "", made.lr,
                     made.seed);
}

RunData Make(const Synthetic& made) {
  RunData run;
  run.attributes = Attributes(made);
  Stream stream(static_cast<std::uint64_t>(made.seed), NameOf(made));
  for (std::int64_t step = 0; step < made.steps; ++step) {
    run.steps.push_back(StepOf(made, step, stream));
    if (step == made.death) break;
  }
  const std::int64_t last = run.steps.empty() ? -1 : run.steps.back().step + 1;
  for (std::int64_t step = 0; step <= last; step += 50) {
    if (made.death >= 0 && step > made.death) break;
    const double loss = Trend(made, static_cast<double>(step)) + 0.01 * static_cast<double>(made.seed % 3);
    run.evals.push_back({step, loss, 0.9 * std::exp(-loss / 2.5), 4096});
    for (std::int64_t layer = 0; layer < 2; ++layer) {
      HealthRow row{step, layer, made.mx2, 1.2 / std::sqrt(made.m + 1.0), 0.02, 0, 0.6, 1.8, 3.5, 4.5};
      if (made.m == 0)
        row.mx2 = row.kernel_error = row.min_denominator = row.underflow_rows = row.sigma_min =
            row.sigma_max = kNaN;
      run.health.push_back(row);
    }
  }
  return run;
}

std::vector<Synthetic> SyntheticSweep() {
  struct Variant {
    const char* name;
    std::int64_t m;
    double floor;
  };
  const std::vector<Variant> variants = {{"exact", 0, 1.8},       {"darkformer", 16, 2.0},
                                         {"darkformer", 64, 1.9}, {"performer", 16, 2.25},
                                         {"performer", 64, 2.0},  {"uniform", 0, 2.6}};
  std::vector<Synthetic> sweep;
  for (const auto& [name, m, floor] : variants)
    for (const double lr : {1e-3, 3e-3, 1e-2})
      for (const std::int64_t seed : {1, 2}) {
        Synthetic made{name, m, lr, seed};
        const double off = std::abs(std::log10(lr / 3e-3));
        made.floor = floor + 0.3 * off + 0.004 * static_cast<double>(seed * (m % 7));
        const bool performer = made.variant == "performer";
        made.mx2 = performer ? 2.6 : 1.1;
        if (lr > 5e-3 && performer) made.spikes = {180, 260, 333};
        if (lr > 5e-3 && performer && m == 16) made.death = 290;
        if (lr > 5e-3 && made.variant == "darkformer" && m == 16) made.spikes = {220};
        if (lr < 2e-3 && made.variant == "uniform" && seed == 2) {
          made.status = RunStatus::kRunning;
          made.steps = 230;
        }
        sweep.push_back(made);
      }
  return sweep;
}

}  // namespace dark::analysis
