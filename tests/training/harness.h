#pragma once

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "experiments/run_file/run_file.h"
#include "experiments/training/run.h"

namespace dark::testing {

/// A folder with a small text of its own, removed at the end.
class Workspace {
 public:
  Workspace() {
    std::string name = (std::filesystem::temp_directory_path() / "dark-training-XXXXXX").string();
    path_ = mkdtemp(name.data());
    std::ofstream text(path_ + "/text.txt");
    for (int i = 0; i < 3000; ++i) text << "line " << i * 7919 % 1000 << " of the book of numbers\n";
  }
  ~Workspace() { std::filesystem::remove_all(path_); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  std::string At(const std::string& name) const { return path_ + "/" + name; }

  RunConfig Config(const std::string& overrides = "") const {
    return ParseRunConfig(
        "data: {text: " + path_ + "/text.txt, cache: " + path_ +
            "/cache}\n"
            "model: {layers: 2, width: 16, heads: 2}\n"
            "train: {steps: 24, batch: 2, context: 32, eval_interval: 5, eval_sequences: 4, "
            "health_interval: 6, checkpoint_interval: 7}\n" +
            overrides,
        "test");
  }

 private:
  std::string path_;
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
