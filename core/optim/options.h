#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/setting.h"

namespace dark {

/// AdamW, clipping, schedule, and which parameters train.
struct OptimOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  double weight_decay = 0.1;
  std::vector<std::string> no_decay = {"*norm", "M"};
  double clip = 1.0;
  std::string schedule = "cosine";
  Index warmup = 0;
  Index decay = 0;
  double min_lr_ratio = 0.1;
  std::vector<std::string> trainable = {"*"};
  std::map<std::string, double> lr_factor;
};

std::vector<Setting> Bind(OptimOptions& options);
/// Combinations that cannot work, for a run of `steps` optimiser steps.
std::vector<Problem> Check(const OptimOptions& options, Index steps);

}  // namespace dark
