#include "sweeps/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/replace_file.h"
#include "experiments/run_file/run_file.h"

namespace dark {
namespace {

namespace fs = std::filesystem;

TrialState StateOf(RunStatus status) {
  switch (status) {
    case RunStatus::kRunning:
      return TrialState::kInterrupted;
    case RunStatus::kDone:
      return TrialState::kDone;
    case RunStatus::kDiverged:
      return TrialState::kDiverged;
    case RunStatus::kFailed:
      return TrialState::kFailed;
    case RunStatus::kStopped:
      return TrialState::kStopped;
  }
  return TrialState::kFailed;
}

/// The "-1a2b3c4d" at the end of a trial's name.
std::string IdEnding(const std::string& name) {
  const std::size_t dash = name.rfind('-');
  return dash == std::string::npos ? name : name.substr(dash);
}

/// A sync of the disk for each start of a driver would be wasted on files that are as they should be.
void WriteIfChanged(const std::string& path, const std::string& text) {
  if (!fs::exists(path) || ReadFile(path) != text) ReplaceFile(path, text);
}

void WriteConfig(const std::string& folder, const Trial& trial) {
  const std::string path = folder + "/config.yaml";
  if (!fs::exists(path)) {
    ReplaceFile(path, CanonicalYaml(trial.config));
    return;
  }
  std::string found;
  try {
    found = ConfigHash(ParseRunConfig(ReadFile(path), path));
  } catch (const Error& error) {
    throw Error(
        fmt::format("{}; the sweep needs this file as it wrote it: remove it to have it written again",
                    error.what()),
        Exit::kFailed);
  }
  if (found != trial.id)
    throw Error(fmt::format("{} was changed: it is run {}, its folder is for {}; move the folder away or "
                            "remove this file to have it written again",
                            path, found, trial.id),
                Exit::kFailed);
}

}  // namespace

const char* Name(TrialState state) {
  switch (state) {
    case TrialState::kPlanned:
      return "planned";
    case TrialState::kRunning:
      return "running";
    case TrialState::kInterrupted:
      return "interrupted";
    case TrialState::kStopped:
      return "stopped";
    case TrialState::kDone:
      return "done";
    case TrialState::kDiverged:
      return "diverged";
    case TrialState::kFailed:
      return "failed";
  }
  return "?";
}

bool IsResult(TrialState state) { return state == TrialState::kDone || state == TrialState::kDiverged; }

TrialStatus ReadTrial(const std::string& folder) {
  TrialStatus status;
  status.loss = std::numeric_limits<double>::quiet_NaN();
  const bool held = RunLock::Held(folder);
  const std::string path = folder + "/run.h5";
  if (fs::exists(path) || fs::exists(path + ".journal")) {
    try {
      const RunData run = ReadRun(path);
      status.state = StateOf(run.status());
      if (!run.steps.empty()) {
        status.step = run.steps.back().step + 1;
        status.loss = run.steps.back().loss;
      }
      const auto reason = run.attributes.find("exit_reason");
      if (reason != run.attributes.end()) status.reason = reason->second;
    } catch (const Error& error) {
      status.state = TrialState::kFailed;
      status.reason = error.what();
    }
  }
  if (held) {  // whatever its files say, someone is at work on them
    status.state = TrialState::kRunning;
    status.reason.clear();
  }
  return status;
}

std::string SweepStore::Folder(const std::string& trial_name) const {
  return root_ + "/trials/" + trial_name;
}

std::vector<std::string> SweepStore::FolderNames() const {
  std::vector<std::string> names;
  std::error_code error;  // a sweep that was never run has no folder
  for (const auto& entry : fs::directory_iterator(root_ + "/trials", error))
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void SweepStore::AdoptNames(Sweep& sweep) const {
  std::map<std::string, std::string> by_id;
  for (const std::string& name : FolderNames()) by_id[IdEnding(name)] = name;
  for (Trial& trial : sweep.trials) {
    const auto found = by_id.find(IdEnding(trial.name));
    if (found != by_id.end() && !fs::exists(Folder(trial.name))) trial.name = found->second;
  }
}

std::vector<std::string> SweepStore::Strangers(const Sweep& sweep) const {
  std::set<std::string> own;
  for (const Trial& trial : sweep.trials) own.insert(trial.name);
  std::vector<std::string> strangers;
  for (const std::string& name : FolderNames())
    if (own.count(name) == 0) strangers.push_back(name);
  return strangers;
}

void SweepStore::Prepare(const Sweep& sweep) const {
  nlohmann::ordered_json index = {
      {"name", sweep.name}, {"overrides", sweep.overrides}, {"trials", nlohmann::json::array()}};
  for (const Trial& trial : sweep.trials) {
    MakeFolders(Folder(trial.name));
    WriteConfig(Folder(trial.name), trial);
    index["trials"].push_back({{"name", trial.name}, {"id", trial.id}});
  }
  WriteIfChanged(root_ + "/sweep.yaml", sweep.text);
  WriteIfChanged(root_ + "/trials.json", index.dump(2) + "\n");
}

std::vector<std::string> SweepStore::StoredNames() const {
  const std::string path = root_ + "/trials.json";
  if (!fs::exists(path))
    throw Error(fmt::format("{} is not the folder of a sweep: it has no trials.json", root_));
  try {
    const nlohmann::json index = nlohmann::json::parse(ReadFile(path));
    std::vector<std::string> names;
    for (const auto& trial : index.at("trials")) names.push_back(trial.at("name").get<std::string>());
    return names;
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("{}: {}", path, error.what()), Exit::kFailed);
  }
}

}  // namespace dark
