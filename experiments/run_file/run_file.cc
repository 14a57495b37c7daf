#include "experiments/run_file/run_file.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/replace_file.h"
#include "experiments/run_file/journal.h"
#include "experiments/run_file/run_hdf5.h"

namespace dark {
namespace {

std::optional<RunData> ReadJournal(const std::string& path) {
  std::optional<JournalReader> journal = JournalReader::Open(JournalPath(path));
  if (!journal) return {};
  RunData run;
  journal->ReadInto(run);
  return run;
}

/// Nobody writes to the journal any more: what it says about a running run is over.
RunData ReadDeadJournal(JournalReader& journal) {
  RunData run;
  const std::size_t torn = journal.ReadInto(run);
  if (run.status() == RunStatus::kRunning) {
    run.attributes["status"] = Name(RunStatus::kStopped);
    run.attributes["exit_reason"] = "died without a word (killed, crashed or lost power)";
  }
  // Up to one flush is lost in a torn write; a larger number means that the disk damaged the journal.
  if (torn > 0) run.attributes["journal_bytes_lost"] = std::to_string(torn);
  return run;
}

}  // namespace

RunData ReadRun(const std::string& path) {
  if (std::optional<RunData> run = ReadJournal(path)) return std::move(*run);
  // A run that has just finished loses its journal only after RUN.h5 is in place; one that has just been
  // created gains its journal first. So between the two looks at the journal nothing can be missed.
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return ReadRunHdf5(path);
  if (std::optional<RunData> run = ReadJournal(path)) return std::move(*run);
  throw Error(fmt::format("{}: no such run (nor its journal)", path), Exit::kFailed);
}

bool RepairRun(const std::string& path) {
  if (!JournalReader::Open(JournalPath(path))) return false;
  const RunLock lock(FolderOf(path));
  std::optional<JournalReader> journal = JournalReader::Open(JournalPath(path));
  if (!journal) return false;  // another process repaired it while we waited for the lock
  WriteRun(path, ReadDeadJournal(*journal));
  RemoveStaleTemporaries(JournalPath(path));
  if (::unlink(JournalPath(path).c_str()) != 0) throw FileError(JournalPath(path), "remove");
  return true;
}

RunData ReadRepairedRun(const std::string& path) {
  const std::string folder = FolderOf(path);
  if (::access(folder.c_str(), W_OK) == 0 && !RunLock::Held(folder)) {
    try {
      RepairRun(path);
    } catch (const Error&) {
      // A run that came alive just now, a full disk: reading needs no repair and reports its own problems.
    }
  }
  return ReadRun(path);
}

}  // namespace dark
