#include <fmt/format.h>

#include <set>

#include "analysis/format.h"
#include "analysis/sections.h"

namespace dark::analysis {
namespace {

// The values that occur, in the order of the runs.
std::vector<std::string> Distinct(const Section& section, const auto& describe) {
  std::vector<std::string> values;
  std::set<std::string> seen;
  for (const AnalysedRun* run : section.runs) {
    const std::string value = describe(*run);
    if (!value.empty() && seen.insert(value).second) values.push_back(value);
  }
  return values;
}

std::string Values(const Section& section, const auto& describe) {
  const std::vector<std::string> values = Distinct(section, describe);
  return values.empty() ? "not recorded" : fmt::format("{}", fmt::join(values, "; "));
}

auto Config(const char* key) {
  return [key](const AnalysedRun& run) { return run.data.Config(key); };
}

auto Attribute(const char* name) {
  return [name](const AnalysedRun& run) { return run.Attribute(name); };
}

std::string Model(const AnalysedRun& run) {
  const auto get = [&](const char* key) { return run.data.Config(key); };
  return fmt::format("{} layers, width {}, {} query heads, {} key/value heads, head size {}, {}",
                     get("model.layers"), get("model.width"), get("model.heads"), get("model.kv_heads"),
                     get("model.head_dim"), get("model.activation"));
}

std::string Parameters(const AnalysedRun& run) {
  const std::string count = run.Attribute("parameters");
  if (count.empty()) return "";
  return fmt::format("{} ({})", count, run.variant);
}

std::string Batch(const AnalysedRun& run) {
  return fmt::format("{} sequences × {} tokens × {} micro-batches", run.data.Config("train.batch"),
                     run.data.Config("train.context"), run.data.Config("train.accumulate"));
}

std::string Optimiser(const AnalysedRun& run) {
  return fmt::format("AdamW, schedule {}, warm-up {} steps, weight decay {}, clip {}",
                     run.data.Config("optim.schedule"), run.data.Config("optim.warmup"),
                     run.data.Config("optim.weight_decay"), run.data.Config("optim.clip"));
}

std::string Data(const AnalysedRun& run) {
  return fmt::format("{}, tokenizer {}, {} symbols", run.data.Config("data.text"),
                     run.data.Config("data.tokenizer"), run.Attribute("vocab"));
}

std::string Machine(const AnalysedRun& run) {
  return fmt::format("{}, {}, {} threads a run", run.Attribute("host"), run.Attribute("cpu"),
                     run.Attribute("threads"));
}

std::string Build(const AnalysedRun& run) {
  return fmt::format("version {}, commit {}, {}", run.Attribute("version"), run.Attribute("git_revision"),
                     run.Attribute("build"));
}

template <class T, class F>
std::string Joined(const std::vector<T>& values, F&& text) {
  std::vector<std::string> texts;
  for (const T& value : values) texts.push_back(text(value));
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

std::vector<Block> WhatWasRun(const Section& section) {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  std::vector<std::string> differing;
  for (const std::string& key : section.differing) {
    const std::vector<std::string> values = Distinct(section, Config(key.c_str()));
    if (key != "attention.variant" && key != "attention.m" && values.size() > 1)
      differing.push_back(fmt::format("{} = {}", key, fmt::join(values, "; ")));
  }
  Table table{"", {"", ""}, {}};
  table.rows = {
      {"Runs", std::to_string(section.runs.size())},
      {"Variants", Values(section, [](const AnalysedRun& run) { return run.variant; })},
      {"Learning rates", Joined(section.lrs, Lr)},
      {"Random features m", Joined(section.features, number)},
      {"Seeds", Joined(section.seeds, number)},
      {"Steps", Values(section, Config("train.steps"))},
      {"Tokens a step", Values(section, Batch)},
      {"Model", Values(section, Model)},
      {"Parameters", Values(section, Parameters)},
      {"Optimiser", Values(section, Optimiser)},
      {"Precision", Values(section, Config("train.precision"))},
      {"Data", Values(section, Data)},
      {"Data hash", Values(section, Attribute("data_hash"))},
      {"Validation split", section.split_hash.empty() ? "not recorded" : section.split_hash},
      {"Program", Values(section, Build)},
      {"Machine", Values(section, Machine)},
  };
  std::vector<Block> blocks = {Heading{2, "What was run"}, table};
  if (!differing.empty()) {
    blocks.push_back(
        Paragraph{"Besides variant, m, learning rate and seed these settings differ between runs:"});
    blocks.push_back(List{differing});
  }
  return blocks;
}

}  // namespace dark::analysis
