#include "sweeps/report.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "sweeps/disk.h"
#include "sweeps/parameter_count.h"
#include "sweeps/table.h"

namespace dark {
namespace {

std::string Lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

/// Trials of each state in the order of TrialState.
std::map<TrialState, int> Count(const std::vector<NamedStatus>& trials) {
  std::map<TrialState, int> counts;
  for (const NamedStatus& trial : trials) ++counts[trial.status.state];
  return counts;
}

double TokensPerStep(const TrainOptions& train) {
  return static_cast<double>(train.batch) * static_cast<double>(train.accumulate) *
         static_cast<double>(train.context);
}

}  // namespace

std::string PlanText(const Sweep& sweep, const SweepStore& store, const JobPlan& plan,
                     const std::string& choice) {
  static const std::vector<Column> columns = {
      {"run", false, 0}, {"lr", true, 0},    {"attention", false, 0}, {"m", true, 0},
      {"seed", true, 0}, {"steps", true, 0}, {"tok/step", true, 0},   {"params", true, 0}};
  std::vector<std::vector<std::string>> rows;
  std::vector<const Trial*> trials;
  double tokens = 0;
  for (const Trial& trial : sweep.trials) {
    std::map<std::string, std::string> flat;
    for (const auto& [key, value] : FlatConfig(trial.config)) flat[key] = value;
    const TrainOptions& train = trial.config.train;
    rows.push_back({trial.name, flat["optim.lr"], trial.config.attention.variant,
                    flat.count("attention.m") != 0 ? flat["attention.m"] : "-",
                    std::to_string(trial.config.seed), std::to_string(train.steps),
                    fmt::format("{:.0f}", TokensPerStep(train)),
                    std::to_string(ParameterCount(trial.config))});
    trials.push_back(&trial);
    tokens += TokensPerStep(train) * static_cast<double>(train.steps);
  }
  std::string text = Lines(FormatTable(columns, rows));
  text += fmt::format("\n{} runs, {} tokens in all; {} jobs × {} threads on CPUs", trials.size(),
                      HumanCount(tokens), plan.jobs(), plan.threads);
  for (const std::vector<int>& cpus : plan.cpus) text += " [" + FormatCpuList(cpus) + "]";
  text += '\n';
  if (!choice.empty()) text += choice + '\n';
  text +=
      fmt::format("in {}: about {} of {} free\n", store.root(),
                  HumanBytes(EstimateSweepBytes(trials, plan.jobs())), HumanBytes(FreeBytes(store.root())));
  for (const std::string& notice : sweep.notices) text += notice + '\n';
  return text;
}

std::vector<NamedStatus> ReadTrials(const SweepStore& store, const std::vector<std::string>& names) {
  std::vector<NamedStatus> trials;
  for (const std::string& name : names) trials.push_back({name, ReadTrial(store.Folder(name))});
  return trials;
}

std::string StatusText(const std::vector<NamedStatus>& trials) {
  static const std::vector<Column> columns = {
      {"run", false, 0}, {"state", false, 0}, {"step", true, 0}, {"loss", true, 0}, {"reason", false, 0}};
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, status] : trials) {
    const bool no_loss = std::isnan(status.loss) && status.step == 0;
    rows.push_back({name, Name(status.state), std::to_string(status.step),
                    no_loss ? "-" : fmt::format("{:.4f}", status.loss), status.reason});
  }
  std::string text = Lines(FormatTable(columns, rows)) + fmt::format("\n{} trials:", trials.size());
  const char* separator = " ";
  for (const auto& [state, count] : Count(trials)) {
    text += fmt::format("{}{} {}", separator, count, Name(state));
    separator = ", ";
  }
  return text + '\n';
}

std::string StatusJson(const std::vector<NamedStatus>& trials) {
  nlohmann::ordered_json json = {{"trials", nlohmann::json::array()}, {"counts", nlohmann::json::object()}};
  for (const auto& [name, status] : trials) {
    nlohmann::ordered_json trial = {{"name", name}, {"state", Name(status.state)}, {"step", status.step}};
    trial["loss"] = std::isfinite(status.loss) ? nlohmann::ordered_json(status.loss) : nullptr;
    trial["reason"] = status.reason;
    json["trials"].push_back(trial);
  }
  for (const auto& [state, count] : Count(trials)) json["counts"][Name(state)] = count;
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace dark
