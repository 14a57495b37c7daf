#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/run_file/run_data.h"

namespace dark::analysis {

/// A made-up run whose losses are known: it falls from `initial` towards `floor`, with noise.
struct Synthetic {
  std::string variant = "exact";
  std::int64_t m = 0;  ///< 0: the variant has none
  double lr = 1e-3;
  std::int64_t seed = 1;
  std::int64_t steps = 400;
  std::int64_t planned = 400;
  double initial = 5.5;
  double floor = 2;
  double noise = 0.02;
  std::vector<std::int64_t> spikes = {};  ///< steps at which loss and gradient norm jump and decay again
  std::int64_t death = -1;                ///< step at which the loss becomes NaN
  double mx2 = 1;
  RunStatus status = RunStatus::kDone;
  std::string split_hash = "8c1f0a52d3e4b677";
};

RunData Make(const Synthetic& made);

/// Six variants, three learning rates and two seeds, some diverging, some spiking, one still running.
std::vector<Synthetic> SyntheticSweep();

/// The name of a made-up run, fit for a folder.
std::string NameOf(const Synthetic& made);

}  // namespace dark::analysis
