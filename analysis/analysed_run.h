#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/decimate.h"
#include "analysis/detector.h"
#include "analysis/divergence.h"
#include "analysis/event.h"
#include "experiments/run_file/run_data.h"

namespace dark::analysis {

/// What one rule says about one series of a run.
struct SeriesSpikes {
  Detection detection;
  std::vector<Event> events;
};

/// A run reduced to what a report needs: everything was detected on every step before the step rows were let
/// go, so that hundreds of long runs fit in memory. Losses are in nats a token; NaN means "there is none".
struct AnalysedRun {
  std::string path;
  RunData data;  ///< without step rows
  RunStatus status = RunStatus::kRunning;
  std::string name;
  std::string variant;
  std::optional<std::int64_t> m;  ///< random features, for variants that have them
  std::int64_t seed = 0;
  double lr = 0;

  std::int64_t steps_done = 0;
  std::int64_t steps_planned = 0;
  std::int64_t tokens = 0;
  double seconds = 0;  ///< wall time of all steps

  double initial_loss = 0;               ///< validation at step 0
  double final_loss = 0;                 ///< validation at the last evaluation
  double final_accuracy = 0;             ///< at the same evaluation
  std::vector<SeriesSpikes> loss, grad;  ///< one entry a rule of StandardRules()
  std::vector<Divergence> divergence;    ///< D0 … D3

  std::vector<CurvePoint> loss_curve, loss_trend, grad_curve, grad_trend;

  /// Not finite, or no better than untrained (D0, D1).
  bool diverged() const;
  /// Came to its end, well or diverged: may be judged.
  bool judged() const { return diverged() || status == RunStatus::kDone; }
  /// Takes part in means: done, not diverged, with a finite final loss.
  bool counted() const;
  std::string Attribute(const std::string& key) const;
};

AnalysedRun Analyse(const std::string& path, RunData data);

}  // namespace dark::analysis
