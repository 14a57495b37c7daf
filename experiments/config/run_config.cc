#include "experiments/config/run_config.h"

#include <fmt/format.h>

#include "core/random.h"
#include "experiments/config/attention_keys.h"
#include "experiments/config/config_yaml.h"
#include "experiments/config/setting_value.h"

namespace dark {
namespace {

std::vector<Setting> Bind(AttentionOptions& options) {
  std::vector<std::string> names;
  for (const VariantInfo& variant : AttentionVariants()) names.push_back(variant.name);
  std::vector<Setting> settings = {
      {"variant", &options.variant, "attention variant; it decides which other attention keys exist", names}};
  for (Setting& setting : VariantKeys(options)) settings.push_back(std::move(setting));
  return settings;
}

RunConfig Build(const YamlNode& yaml, const std::vector<std::string>& overrides) {
  ConfigBuilder builder;
  builder.Apply(yaml);
  for (const std::string& assignment : overrides) builder.Override(assignment);
  return builder.Resolve();
}

}  // namespace

std::vector<Setting> Bind(TrainOptions& o) {
  return {
      {"steps", &o.steps, "optimiser steps", 1, 1e9},
      {"batch", &o.batch, "sequences a micro-batch", 1, 65536},
      {"accumulate", &o.accumulate, "micro-batches an optimiser step, weighted by their tokens", 1, 65536},
      {"context", &o.context, "tokens a sequence T", 2, 1048576},
      {"precision",
       &o.precision,
       "number format of weights and arithmetic; bf16 = fp32, but products round their operands to bfloat16, "
       "except those that make logits of random features; faster where the processor has instructions "
       "for it",
       {"fp32", "bf16", "fp64"}},
      {"eval_interval", &o.eval_interval,
       "optimiser steps between evaluations; 0 = only before the first and after the last step", 0, 1e9},
      {"eval_sequences", &o.eval_sequences, "validation windows an evaluation, the same every time", 1, 1e6},
      {"health_interval", &o.health_interval, "optimiser steps between looks at attention health, 0 = never",
       0, 1e9},
      {"checkpoint_interval", &o.checkpoint_interval,
       "optimiser steps between checkpoints; 0 = only when the run ends or is stopped", 0, 1e9},
  };
}

std::vector<Section> Bind(RunConfig& config) {
  return {
      // 2^53: whole numbers up to here survive every reader that turns numbers into doubles.
      {"", {{"seed", &config.seed, "seed of all random streams of the run", 0, 9007199254740992.0}}},
      {"data", Bind(config.data)},
      {"model", Bind(config.model)},
      {"attention", Bind(config.attention)},
      {"optim", Bind(config.optim)},
      {"train", Bind(config.train)},
  };
}

RunConfig LoadRunConfig(const std::string& path, const std::vector<std::string>& overrides) {
  return Build(LoadYaml(path), overrides);
}

RunConfig ParseRunConfig(const std::string& yaml, const std::string& origin,
                         const std::vector<std::string>& overrides) {
  return Build(ParseYaml(yaml, origin), overrides);
}

std::string CanonicalYaml(const RunConfig& config) {
  RunConfig copy = config;  // settings bind to what they may write
  std::string yaml;
  for (const Section& section : Bind(copy)) {
    if (!section.name.empty()) yaml += section.name + ":\n";
    const char* indent = section.name.empty() ? "" : "  ";
    for (const Setting& setting : section.settings)
      yaml += fmt::format("{}{}: {}\n", indent, setting.name, YamlValue(setting));
  }
  return yaml;
}

std::vector<std::pair<std::string, std::string>> FlatConfig(const RunConfig& config) {
  RunConfig copy = config;
  std::vector<std::pair<std::string, std::string>> flat;
  for (const Section& section : Bind(copy))
    for (const Setting& setting : section.settings) {
      const std::string key = section.name.empty() ? setting.name : section.name + "." + setting.name;
      if (key != "data.cache") flat.emplace_back(key, FlatValue(setting));
    }
  return flat;
}

std::string ConfigHash(const RunConfig& config) {
  std::string identity;
  for (const auto& [key, value] : FlatConfig(config)) identity += key + '\0' + value + '\0';
  return fmt::format("{:016x}", HashName(identity));
}

}  // namespace dark
