#include "experiments/config/resolve.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/config/attention_keys.h"

namespace dark {
namespace {

void Append(std::vector<Problem>& to, const std::string& section, std::vector<Problem> more) {
  for (Problem& problem : more) to.push_back({section + "." + problem.key, std::move(problem.message)});
}

bool HasRank(AttentionOptions& attention) {
  const std::vector<Setting> keys = VariantKeys(attention);
  return std::any_of(keys.begin(), keys.end(), [](const Setting& key) { return key.name == "rank"; });
}

std::vector<Problem> CheckGeometry(const AttentionOptions& attention, Index head_dim) {
  std::vector<Problem> problems;
  if (attention.rank > head_dim)
    problems.push_back({"rank", fmt::format("{} exceeds the head size {}", attention.rank, head_dim)});
  else if (attention.rope == "after-M" && attention.rank != head_dim)
    problems.push_back({"rank", fmt::format("{} rows, but rope after-M rotates all {} of a head",
                                            attention.rank, head_dim)});
  return problems;
}

}  // namespace

std::vector<Problem> Resolve(RunConfig& config) {
  std::vector<Problem> problems;
  Resolve(config.model);
  Append(problems, "model", Check(config.model));
  if (problems.empty() && HasRank(config.attention)) {
    if (config.attention.rank == 0) config.attention.rank = config.model.head_dim;
    Append(problems, "attention", CheckGeometry(config.attention, config.model.head_dim));
  }
  Append(problems, "optim", Check(config.optim, config.train.steps));
  return problems;
}

}  // namespace dark
