#pragma once

#include "core/optim/options.h"

namespace dark {

/// Learning rate of optimiser step s = 0 … T−1, before per-parameter factors. Warm-up: lr·(s+1)/W for s < W,
/// so that the first step is no no-op and step W−1 trains at lr. After it, with progress p = (s−W+1)/(T−W) in
/// (0, 1]:
///   constant  lr
///   linear    lr·(1 − (1−ρ)p)
///   cosine    lr·(ρ + (1−ρ)(1+cos πp)/2)
///   wsd       lr until the last D steps, then linear as above over p = (s−(T−D)+1)/D
/// with ρ = min_lr_ratio: step T−1 trains at ρ·lr.
double LearningRate(const OptimOptions& options, Index steps, Index step);

}  // namespace dark
