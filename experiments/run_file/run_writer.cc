#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "core/clock.h"
#include "core/error.h"
#include "core/files/file.h"
#include "experiments/run_file/journal.h"
#include "experiments/run_file/run_file.h"
#include "experiments/run_file/utc_time.h"

namespace dark {
namespace {

constexpr int kFlushRows = 256;
constexpr Clock::duration kFlushTime = std::chrono::seconds(2);
constexpr std::size_t kSmallRun = 10000;  // rows that fold in a few milliseconds

std::size_t RowCount(const RunData& run) { return run.steps.size() + run.evals.size() + run.health.size(); }

void CheckText(const std::string& name, const std::string& value) {
  if ((name + value).find('\0') != std::string::npos)
    throw Error(fmt::format("attribute '{}' of a run holds a NUL byte", name.c_str()), Exit::kFailed);
}

void KeepSteps(RunData& run, std::int64_t steps) {
  std::erase_if(run.steps, [&](const StepRow& row) { return row.step >= steps; });
  std::erase_if(run.evals, [&](const EvalRow& row) { return row.step > steps; });
  std::erase_if(run.health, [&](const HealthRow& row) { return row.step >= steps; });
}

}  // namespace

struct RunWriter::State {
  State(const std::string& path_of_run, RunData start)
      : path(path_of_run), run(std::move(start)), journal(JournalPath(path), run) {
    Fold();
  }

  template <class Row>
  void Append(const Row& row) {
    CheckOpen();
    (run.*TableOf<Row>().rows).push_back(row);
    journal.Add(row);
    if (++waiting_rows >= kFlushRows || Clock::now() - last_flush >= kFlushTime) Flush();
  }

  void Flush() {
    journal.Flush();
    waiting_rows = 0;
    last_flush = Clock::now();
  }

  void Fold() {
    WriteRun(path, run);
    folded_rows = RowCount(run);
  }

  void CheckOpen() const {
    if (finished) throw Error(path + ": the run is finished, nothing can be added", Exit::kFailed);
  }

  std::string path;
  RunData run;
  JournalWriter journal;
  std::size_t folded_rows = 0;
  int waiting_rows = 0;
  Clock::time_point last_flush = Clock::now();
  bool finished = false;
};

RunWriter::RunWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunWriter::RunWriter(RunWriter&&) noexcept = default;
RunWriter& RunWriter::operator=(RunWriter&&) noexcept = default;

RunWriter::~RunWriter() {
  if (!state_ || state_->finished) return;
  try {
    state_->Flush();
  } catch (const Error&) {
    // The caller saw the same failure from its own Append or Flush, or is unwinding from another.
  }
}

// The journal comes first: from the moment it is in place it is the truth, and the RUN.h5 of a former run at
// this path no longer counts, whether or not we live to replace it.
RunWriter RunWriter::Create(const std::string& path, const std::map<std::string, std::string>& attributes) {
  for (const auto& [name, value] : attributes) CheckText(name, value);
  RunData run;
  run.attributes = attributes;
  run.attributes["status"] = Name(RunStatus::kRunning);
  run.attributes.emplace("started", UtcNow());
  return RunWriter(std::make_unique<State>(path, std::move(run)));
}

RunWriter RunWriter::Resume(const std::string& path, std::int64_t keep_steps) {
  RunData run = ReadRun(path);
  KeepSteps(run, keep_steps);
  for (const char* mark : {"exit_reason", "finished", "bad_step", "bad_tensor"}) run.attributes.erase(mark);
  run.attributes["status"] = Name(RunStatus::kRunning);
  return RunWriter(std::make_unique<State>(path, std::move(run)));
}

void RunWriter::SetAttribute(const std::string& name, const std::string& value) {
  state_->CheckOpen();
  CheckText(name, value);
  state_->run.attributes[name] = value;
  state_->journal.Add(name, value);
}

void RunWriter::Append(const StepRow& row) { state_->Append(row); }
void RunWriter::Append(const EvalRow& row) { state_->Append(row); }
void RunWriter::Append(const HealthRow& row) { state_->Append(row); }

void RunWriter::Flush() { state_->Flush(); }

void RunWriter::Snapshot() {
  Flush();
  const std::size_t rows = RowCount(state_->run);
  if (rows <= kSmallRun || rows >= state_->folded_rows + state_->folded_rows / 10) state_->Fold();
}

void RunWriter::Finish(RunStatus status, const std::string& exit_reason) {
  SetAttribute("status", Name(status));
  SetAttribute("exit_reason", exit_reason);
  SetAttribute("finished", UtcNow());
  // The end goes to the journal before it goes to RUN.h5: a kill between the two leaves both in agreement.
  Flush();
  state_->Fold();
  state_->finished = true;
  if (status == RunStatus::kStopped || status == RunStatus::kRunning) return;
  const std::string journal = JournalPath(state_->path);
  if (::unlink(journal.c_str()) != 0) throw FileError(journal, "remove");
}

const RunData& RunWriter::data() const { return state_->run; }

}  // namespace dark
