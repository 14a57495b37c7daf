#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "experiments/config/run_config.h"
#include "experiments/run_file/run_data.h"

namespace dark {

/// Files of a run directory.
struct RunFiles {
  explicit RunFiles(const std::string& directory);
  std::string config;      ///< config.yaml, the resolved config
  std::string run;         ///< run.h5
  std::string checkpoint;  ///< checkpoint.h5
  std::string tokenizer;   ///< tokenizer.json, so that a run can be sampled without its text
};

/// What a caller sees of a living run.
struct TrainProgress {
  StepRow row;
  Index steps = 0;       ///< of the whole run
  double elapsed = 0;    ///< seconds since this process began to train
  Index first_step = 0;  ///< where this process began
};

struct TrainRequest {
  std::string directory;
  bool resume = false;                                ///< continue from the checkpoint, if there is one
  int threads = 0;                                    ///< 0 = what OpenMP finds
  double max_seconds = 0;                             ///< stop and checkpoint after this long, 0 = no limit
  const std::atomic<bool>* stop = nullptr;            ///< stop and checkpoint once it is true
  std::function<void(const TrainProgress&)> on_step;  ///< after every step
  std::function<void(const EvalRow&)> on_evaluation;
};

struct TrainResult {
  RunStatus status = RunStatus::kDone;
  std::string reason;
};

/// Trains one run in `request.directory` to its end, or until it is told to stop. Resumed at any step,
/// metrics, batch hashes and final weights are bit-identical to the uninterrupted run. A run that already
/// ended is not touched: its result is returned. Throws Error(kUsage) for a directory that holds another run
/// and Error(kFailed) when files fail; divergence is a result.
TrainResult TrainRun(const RunConfig& config, const TrainRequest& request);

/// Exit code of the command for a result.
int ExitCode(RunStatus status);

}  // namespace dark
