#include "core/optim/options.h"

#include <fmt/format.h>

namespace dark {

std::vector<Setting> Bind(OptimOptions& o) {
  return {
      {"lr", &o.lr, "peak learning rate", 0, 1000},
      {"beta1", &o.beta1, "decay of the first moment", 0, 0.999999},
      {"beta2", &o.beta2, "decay of the second moment", 0, 0.99999999},
      {"eps", &o.eps, "added to the root of the second moment", 0, 1},
      {"weight_decay", &o.weight_decay, "decoupled decay: p -= lr · weight_decay · p", 0, 10},
      {"no_decay", &o.no_decay, "name patterns of parameters without weight decay"},
      {"clip", &o.clip, "largest global gradient norm, 0 = no clipping", 0, 1e30},
      {"schedule", &o.schedule, "shape after warm-up", {"constant", "linear", "cosine", "wsd"}},
      {"warmup", &o.warmup, "warm-up steps W: step s < W trains at lr·(s+1)/W", 0, 1e12},
      {"decay", &o.decay, "last steps of wsd that decay linearly to the minimum", 0, 1e12},
      {"min_lr_ratio", &o.min_lr_ratio, "smallest lr of linear, cosine and wsd, as a share of lr", 0, 1},
      {"trainable", &o.trainable,
       "name patterns of parameters that train; all others are frozen (* and {a,b} allowed)"},
      {"lr_factor", &o.lr_factor,
       "learning-rate factor by name pattern; of several matches the alphabetically last counts", 0, 1e6},
  };
}

std::vector<Problem> Check(const OptimOptions& o, Index steps) {
  std::vector<Problem> problems;
  if (o.warmup > steps)
    problems.push_back({"warmup", fmt::format("{} warm-up steps in a run of {} steps", o.warmup, steps)});
  if (o.schedule == "wsd" && o.warmup + o.decay > steps)
    problems.push_back(
        {"decay", fmt::format("warmup {} + decay {} exceed the run's {} steps", o.warmup, o.decay, steps)});
  if (o.trainable.empty()) problems.push_back({"trainable", "no pattern: nothing would train"});
  return problems;
}

}  // namespace dark
