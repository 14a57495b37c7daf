#include "core/optim/schedule.h"

#include <cmath>
#include <numbers>

namespace dark {

double LearningRate(const OptimOptions& o, Index steps, Index step) {
  if (step < o.warmup) return o.lr * static_cast<double>(step + 1) / static_cast<double>(o.warmup);
  const Index from = o.schedule == "wsd" ? steps - o.decay : o.warmup;
  if (o.schedule == "constant" || step < from) return o.lr;
  const double p = static_cast<double>(step - from + 1) / static_cast<double>(steps - from);
  if (o.schedule == "cosine")
    return o.lr * (o.min_lr_ratio + (1 - o.min_lr_ratio) * (1 + std::cos(std::numbers::pi * p)) / 2);
  return o.lr * (1 - (1 - o.min_lr_ratio) * p);
}

}  // namespace dark
