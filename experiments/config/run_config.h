#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/attention/options.h"
#include "core/model/options.h"
#include "core/optim/options.h"
#include "data/options.h"

namespace dark {

/// How long and in what portions a run trains, and when it looks at itself.
struct TrainOptions {
  Index steps = 200;
  Index batch = 8;       ///< sequences a micro-batch
  Index accumulate = 1;  ///< micro-batches an optimiser step
  Index context = 128;   ///< T
  std::string precision = "fp32";
  Index eval_interval = 50;
  Index eval_sequences = 32;
  Index health_interval = 50;
  Index checkpoint_interval = 100;
};

std::vector<Setting> Bind(TrainOptions& options);

/// Everything that decides a run's numbers. Two runs with equal resolved configs are the same trial.
struct RunConfig {
  Index seed = 1;
  DataOptions data;
  ModelOptions model;
  AttentionOptions attention;
  OptimOptions optim;
  TrainOptions train;
};

/// A section of the YAML file: its name ("" for the top level) and its settings bound to `config`. The
/// attention section holds `variant` and the keys of that variant only.
struct Section {
  std::string name;
  std::vector<Setting> settings;
};
std::vector<Section> Bind(RunConfig& config);

/// Reads and resolves a config: file, then `overrides` ("optim.lr=1e-3") in order. Throws Error(kUsage) with
/// file:line:col, what was found, what is allowed and the nearest valid name.
RunConfig LoadRunConfig(const std::string& path, const std::vector<std::string>& overrides);
/// The same from text; `origin` stands for the file name in messages.
RunConfig ParseRunConfig(const std::string& yaml, const std::string& origin,
                         const std::vector<std::string>& overrides = {});

/// Canonical YAML: every setting of the resolved config in declared order, floats by shortest round trip,
/// keys of other variants absent. ParseRunConfig of it gives the same config.
std::string CanonicalYaml(const RunConfig& config);
/// Flat view of the resolved config, "optim.lr" → "0.001", in declared order; values printed as in
/// CanonicalYaml, but a text stands without quotes. data.cache is absent: it is a place, not a decision.
std::vector<std::pair<std::string, std::string>> FlatConfig(const RunConfig& config);
/// 16 hex digits of a 64-bit hash of the flat view: the trial id.
std::string ConfigHash(const RunConfig& config);

}  // namespace dark
