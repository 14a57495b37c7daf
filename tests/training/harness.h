#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "experiments/run_file/run_file.h"
#include "experiments/training/run.h"
#include "tests/temporary_folder.h"

namespace dark::testing {

/// A folder with a small text of its own, removed at the end.
class Workspace {
 public:
  Workspace() {
    std::string text;
    for (int i = 0; i < 3000; ++i) text += fmt::format("line {} of the book of numbers\n", i * 7919 % 1000);
    folder_.Write("text.txt", text);
  }

  std::string At(const std::string& name) const { return folder_ / name; }

  RunConfig Config(const std::string& overrides = "") const {
    return ParseRunConfig(
        "data: {text: " + folder_.path() + "/text.txt, cache: " + folder_.path() +
            "/cache}\n"
            "model: {layers: 2, width: 16, heads: 2}\n"
            "train: {steps: 24, batch: 2, context: 32, eval_interval: 5, eval_sequences: 4, "
            "health_interval: 6, checkpoint_interval: 7}\n" +
            overrides,
        "test");
  }

 private:
  TemporaryFolder folder_;
};

/// Everything of a run but times, exact, a line a row: equal texts are equal bits.
inline std::vector<std::string> Lines(const RunData& run) {
  std::vector<std::string> lines;
  for (const StepRow& r : run.steps) {
    lines.push_back(fmt::format("step {} {:a} {:a} {:a} {:a} {:a} {:a} {} {:x}", r.step, r.loss, r.lr,
                                r.grad_norm, r.grad_norm_clipped, r.update_rms, r.param_norm, r.tokens,
                                r.batch_hash));
  }
  for (const EvalRow& r : run.evals)
    lines.push_back(fmt::format("eval {} {:a} {:a} {}", r.step, r.loss, r.accuracy, r.tokens));
  for (const HealthRow& r : run.health) {
    lines.push_back(fmt::format("health {} {} {:a} {:a} {:a} {:a} {:a} {:a} {:a}", r.step, r.layer, r.mx2,
                                r.kernel_error, r.min_denominator, r.sigma_min, r.sigma_max, r.anisotropy_q,
                                r.anisotropy_k));
  }
  return lines;
}

}  // namespace dark::testing
