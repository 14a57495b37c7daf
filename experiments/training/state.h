#pragma once

#include "core/model/model.h"
#include "core/optim/adamw.h"
#include "experiments/run_file/checkpoint.h"

namespace dark {

/// Counters of a run beside its tensors. All random streams are pure functions of (seed, name, index), so the
/// counters that index them are their whole state: `sequence` for the data, `redraw` for Ω.
struct Counters {
  Index step = 0;      ///< optimiser steps done
  Index sequence = 0;  ///< micro-batches read
  Index redraw = 0;    ///< number of the present draw of Ω
};

/// Weights, moments, Ω and counters as one checkpoint; `attributes` (config, hashes) are the caller's.
template <class T>
Checkpoint SaveState(Model<T>& model, AdamW<T>& optimizer, const Counters& counters);

/// Puts a checkpoint back. Throws Error(kFailed), naming missing and extra tensors, when it is of another
/// model.
template <class T>
Counters RestoreState(const Checkpoint& checkpoint, const std::string& path, Model<T>& model,
                      AdamW<T>& optimizer);

/// Weights and Ω alone: enough to evaluate or sample.
template <class T>
void RestoreWeights(const Checkpoint& checkpoint, const std::string& path, Model<T>& model);

}  // namespace dark
