#include <filesystem>
#include <set>

#include "analysis/study.h"
#include "core/error.h"
#include "core/files/file.h"
#include "experiments/run_file/run_file.h"

namespace dark::analysis {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunFile = "run.h5";
constexpr const char* kJournal = "run.h5.journal";

// A run that was killed before its first snapshot has only a journal; ReadRun wants the name of the run file.
// Each directory is opened on its own, so that one that cannot be does not hide its neighbours.
void FindRuns(const fs::path& dir, std::set<fs::path>& found, std::vector<Study::Unreadable>& unreadable) {
  std::error_code error;
  fs::directory_iterator entry(dir, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    const fs::path name = entry->path().filename();
    if (name == kRunFile || name == kJournal) found.insert(dir / kRunFile);
    std::error_code unknown;
    if (fs::is_directory(entry->symlink_status(unknown))) FindRuns(entry->path(), found, unreadable);
  }
  if (error) unreadable.push_back({dir.string(), error.message()});
}

// Beside a run's file stands its lock, which tells a run that trains from one that only says so.
RunData ReadWithLock(const std::string& path) {
  RunData run = ReadRun(path);
  const std::string folder = FolderOf(path);
  const bool held = RunLock::Held(folder);
  if (held && (run.status() == RunStatus::kStopped || run.status() == RunStatus::kFailed)) {
    run.attributes["status"] = Name(RunStatus::kRunning);  // just being resumed
    run.attributes.erase("exit_reason");
  }
  if (held || run.status() != RunStatus::kRunning) return run;
  run = ReadRun(path);  // it may have ended between the two looks
  if (run.status() == RunStatus::kRunning)
    run.attributes["exit_reason"] = "but no process holds it: killed, or copied while it trained";
  return run;
}

}  // namespace

Study ReadStudy(const std::vector<std::string>& dirs) {
  std::set<fs::path> found;
  std::vector<Study::Unreadable> unreadable;
  for (const std::string& dir : dirs) {
    if (!fs::exists(dir)) throw Error(dir + ": no such directory");
    if (fs::is_directory(dir))
      FindRuns(dir, found, unreadable);
    else
      found.insert(dir);
  }
  std::vector<AnalysedRun> runs;
  for (const fs::path& path : found) {
    try {
      runs.push_back(Analyse(path.string(), ReadWithLock(path.string())));
    } catch (const Error& error) {
      unreadable.push_back({path.string(), error.what()});
    }
  }
  if (runs.empty() && unreadable.empty())
    throw Error(dirs.empty() ? "no directory to report on"
                             : dirs.front() + ": no run.h5 below this directory");
  return Arrange(std::move(runs), std::move(unreadable));
}

}  // namespace dark::analysis
