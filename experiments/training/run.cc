#include "experiments/training/run.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <span>

#include "core/clock.h"
#include "core/error.h"
#include "core/files/file.h"
#include "core/files/replace_file.h"
#include "core/tensor/parallel.h"
#include "experiments/run_file/run_file.h"
#include "experiments/training/provenance.h"
#include "experiments/training/trainer.h"

namespace dark {
namespace {

bool Ended(RunStatus status) { return status == RunStatus::kDone || status == RunStatus::kDiverged; }

/// One run with its files: the loop that steps, evaluates, records, checkpoints and stops.
template <class T>
class Session {
 public:
  Session(const RunConfig& config, const TrainRequest& request, const Dataset& data, const RunFiles& files)
      : config_(config),
        request_(request),
        data_(data),
        files_(files),
        trainer_(config, data),
        writer_(Begin()) {}

  TrainResult Run() {
    start_ = Clock::now();
    first_step_ = Step();
    try {
      return Loop();
    } catch (const Error& error) {
      // The disk may be full: what was flushed stays, and the state is noted if that is still possible.
      try {
        writer_.Finish(RunStatus::kFailed, error.what());
      } catch (const Error&) {
      }
      throw;
    }
  }

 private:
  Index Step() const { return trainer_.counters().step; }

  RunWriter Begin() {
    if (request_.resume && std::filesystem::exists(files_.checkpoint)) {
      const Checkpoint checkpoint = LoadCheckpoint(files_.checkpoint);
      RequireSame("config", checkpoint, "config_hash", ConfigHash(config_));
      RequireSame("text", checkpoint, "data_hash", data_.data_hash());
      RequireSame("split", checkpoint, "split_hash", data_.split_hash());
      trainer_.Restore(checkpoint, files_.checkpoint);
      return RunWriter::Resume(files_.run, Step());
    }
    trainer_.Calibrate();
    return RunWriter::Create(
        files_.run, Provenance(config_, data_, trainer_.model().parameters().count(), ThreadCount()));
  }

  void RequireSame(const char* what, const Checkpoint& checkpoint, const std::string& key,
                   const std::string& expected) const {
    if (checkpoint.attributes.at(key) == expected) return;
    throw Error(fmt::format("{}: the checkpoint was made with another {} ({}, now {}); use another --out",
                            files_.checkpoint, what, checkpoint.attributes.at(key), expected));
  }

  TrainResult Loop() {
    while (true) {
      EvaluateIfDue();
      if (Step() == config_.train.steps) return Finish(RunStatus::kDone, "all steps done");
      if (const std::string why = WhyStop(); !why.empty()) return Finish(RunStatus::kStopped, why);
      if (Step() > first_step_ && Due(config_.train.checkpoint_interval)) {
        SaveCheckpointNow();
        writer_.Snapshot();
      }
      const bool probe = Due(config_.train.health_interval);
      Divergence divergence;
      const StepRow row = trainer_.Step(divergence);
      writer_.Append(row);
      if (row.step == first_step_) writer_.Flush();  // who follows the run sees at once that it trains
      if (request_.on_step) request_.on_step({row, config_.train.steps, Elapsed(), first_step_});
      if (!divergence.tensor.empty()) return Diverged(row, divergence);
      if (probe) AppendHealth(row.step);
    }
  }

  bool Due(Index interval) const { return interval > 0 && Step() % interval == 0; }
  double Elapsed() const { return SecondsSince(start_); }

  std::string WhyStop() const {
    if (request_.stop != nullptr && request_.stop->load()) return "stopped by a signal";
    if (request_.max_seconds > 0 && Elapsed() >= request_.max_seconds) return "--max-time reached";
    return "";
  }

  // At step 0, every interval and at the end; a resumed run may find the row already there.
  void EvaluateIfDue() {
    if (!Due(config_.train.eval_interval) && Step() != 0 && Step() != config_.train.steps) return;
    const std::vector<EvalRow>& done = writer_.data().evals;
    if (!done.empty() && done.back().step == Step()) return;
    const EvalRow row = trainer_.Evaluate();
    writer_.Append(row);
    if (request_.on_evaluation) request_.on_evaluation(row);
  }

  void AppendHealth(Index step) {
    for (HealthRow row : trainer_.Health()) {
      row.step = step;
      writer_.Append(row);
    }
  }

  void SaveCheckpointNow() {
    writer_.Flush();
    Checkpoint checkpoint = trainer_.Save();
    checkpoint.attributes = {{"config", CanonicalYaml(config_)},
                             {"config_hash", ConfigHash(config_)},
                             {"data_hash", data_.data_hash()},
                             {"split_hash", data_.split_hash()},
                             {"vocab", fmt::format("{}", data_.vocab())},
                             {"precision", config_.train.precision},
                             {"step", fmt::format("{}", Step())}};
    SaveCheckpoint(files_.checkpoint, checkpoint);
  }

  TrainResult Finish(RunStatus status, const std::string& reason) {
    SaveCheckpointNow();
    writer_.Finish(status, reason);
    return {status, reason};
  }

  // The last good checkpoint stays, so that the step that diverged can be replayed.
  TrainResult Diverged(const StepRow& row, const Divergence& divergence) {
    const std::string reason = fmt::format("step {}: {} (first: {}); try a lower optim.lr or optim.clip",
                                           row.step, divergence.reason, divergence.tensor);
    writer_.SetAttribute("bad_step", fmt::format("{}", row.step));
    writer_.SetAttribute("bad_tensor", divergence.tensor);
    writer_.Finish(RunStatus::kDiverged, reason);
    return {RunStatus::kDiverged, reason};
  }

  const RunConfig& config_;
  const TrainRequest& request_;
  const Dataset& data_;
  const RunFiles& files_;
  Trainer<T> trainer_;
  RunWriter writer_;
  Clock::time_point start_;
  Index first_step_ = 0;
};

// What stands in the directory: nothing, this run (its result, if it ended), or another one, which is
// refused.
std::optional<TrainResult> FindFormerRun(const RunConfig& config, const TrainRequest& request,
                                         const RunFiles& files) {
  if (!std::filesystem::exists(files.run) && !std::filesystem::exists(files.run + ".journal"))
    return std::nullopt;
  const RunData former = ReadRun(files.run);
  if (!request.resume) {
    throw Error(fmt::format("{} already holds a run ({}); continue it with --resume or choose another --out",
                            request.directory, Name(former.status())));
  }
  const auto hash = former.attributes.find("config_hash");
  if (hash != former.attributes.end() && hash->second != ConfigHash(config))
    throw Error(fmt::format("{} holds a run of another config; choose another --out", request.directory));
  if (!Ended(former.status())) return std::nullopt;
  const auto reason = former.attributes.find("exit_reason");
  return TrainResult{former.status(), reason == former.attributes.end() ? "" : reason->second};
}

}  // namespace

RunFiles::RunFiles(const std::string& directory)
    : config(directory + "/config.yaml"),
      run(directory + "/run.h5"),
      checkpoint(directory + "/checkpoint.h5"),
      tokenizer(directory + "/tokenizer.json") {}

TrainResult TrainRun(const RunConfig& config, const TrainRequest& request) {
  if (request.threads > 0) omp_set_num_threads(request.threads);
  const Dataset data = Dataset::Open(config.data, config.train.context);
  const RunFiles files(request.directory);
  MakeFolders(request.directory);
  const RunLock lock(request.directory);
  if (const auto former = FindFormerRun(config, request, files)) return *former;
  ReplaceFile(files.config, CanonicalYaml(config));
  data.tokenizer().Save(files.tokenizer);
  if (config.train.precision == "fp64") return Session<double>(config, request, data, files).Run();
  return Session<float>(config, request, data, files).Run();
}

int ExitCode(RunStatus status) {
  switch (status) {
    case RunStatus::kDone:
      return static_cast<int>(Exit::kOk);
    case RunStatus::kDiverged:
      return static_cast<int>(Exit::kDiverged);
    case RunStatus::kStopped:
      return static_cast<int>(Exit::kStopped);
    default:
      return static_cast<int>(Exit::kFailed);
  }
}

}  // namespace dark
