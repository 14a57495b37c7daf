#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/attention/options.h"
#include "core/model/options.h"
#include "core/tape/work.h"

namespace dark {

/// One training step to be timed: forward, backward and optimiser on random tokens, as a run does it.
struct StepCase {
  ModelOptions model;
  AttentionOptions attention;
  Index batch = 1;
  Index context = 1;
  Index vocab = 256;
  std::string precision = "fp32";
  int threads = 1;
};

struct StepTiming {
  std::vector<double> seconds;  ///< of each timed step
  /// fp32 operations that the machine could do in each of these times, by its speed before and after.
  std::vector<double> fma;
  double flops = 0;        ///< useful operations of a step (Work::flops of every op, forward and backward)
  double peak_memory = 0;  ///< resident bytes of the process while it ran
  double bytes_per_token = 0;  ///< activations, gradients and working memory
  std::vector<OpProfile> ops;  ///< by kind, times and work of one step; slowest first

  double Median() const;
  /// fp32 multiply-adds a second, two operations each, that the machine was able to do while it ran; only of
  /// a step that was timed beside the machine.
  double FmaRate() const;
};

/// A model with its optimiser and one batch, after a first step that is not timed.
class StepBench {
 public:
  virtual ~StepBench() = default;
  /// Times steps until at least `min_seconds` have passed and `fewest` are done. `beside_machine` times the
  /// machine's multiply-adds between the steps too (fma).
  virtual StepTiming Run(std::size_t fewest, double min_seconds, bool beside_machine) = 0;
};
/// Sets the process's number of threads.
std::unique_ptr<StepBench> MakeStepBench(const StepCase& step);

/// The same for at least three steps.
StepTiming TimeStep(const StepCase& step, double min_seconds, bool beside_machine);

}  // namespace dark
