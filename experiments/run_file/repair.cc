#include "experiments/run_file/repair.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "core/error.h"
#include "core/files/file.h"
#include "experiments/run_file/journal.h"
#include "experiments/run_file/run_file.h"

namespace dark {
namespace {

namespace fs = std::filesystem;

/// The runs at `path`: itself, or every run with a journal below a folder, in order of their paths.
std::vector<std::string> RunsAt(const std::string& path) {
  const std::string run = RunPathOf(path);
  std::error_code error;
  if (run != path || !fs::is_directory(path, error)) return {run};
  std::vector<std::string> runs;
  for (const auto& entry :
       fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, error))
    if (entry.path().extension() == JournalPath("")) runs.push_back(RunPathOf(entry.path().string()));
  if (error) throw Error(fmt::format("{}: cannot list: {}", path, error.message()), Exit::kFailed);
  std::sort(runs.begin(), runs.end());
  return runs;
}

Repair RepairOne(const std::string& path) {
  if (RunLock::Held(FolderOf(path))) return {path, Repair::Outcome::kAlive, path + ": alive, left alone"};
  const bool repaired = RepairRun(path);
  const std::size_t steps = ReadRun(path).steps.size();
  if (!repaired) return {path, Repair::Outcome::kWhole, fmt::format("{}: whole, {} steps", path, steps)};
  return {path, Repair::Outcome::kRepaired, fmt::format("{}: repaired, {} steps", path, steps)};
}

}  // namespace

std::string RunPathOf(const std::string& path) {
  const std::string ending = JournalPath("");
  if (path.ends_with(ending)) return path.substr(0, path.size() - ending.size());
  const std::string inside = (fs::path(path) / "run.h5").string();
  std::error_code ignored;
  return fs::exists(inside, ignored) || fs::exists(JournalPath(inside), ignored) ? inside : path;
}

std::vector<Repair> RepairAll(const std::vector<std::string>& paths) {
  std::vector<Repair> repairs;
  for (const std::string& path : paths)
    for (const std::string& run : RunsAt(path)) try {
        repairs.push_back(RepairOne(run));
      } catch (const Error& error) {
        repairs.push_back({run, Repair::Outcome::kFailed, error.what()});
      }
  return repairs;
}

}  // namespace dark
