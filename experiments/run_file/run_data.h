#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dark {

/// Version of the run-file schema; a reader refuses a newer one.
inline constexpr int kRunSchemaVersion = 1;

/// One optimiser step at full resolution. NaN and infinities are data and are kept.
struct StepRow {
  std::int64_t step = 0;         ///< optimiser steps done before this one: the first row is step 0
  double loss = 0;               ///< mean cross-entropy in nats over all tokens of the step
  double lr = 0;                 ///< learning rate used by this step
  double grad_norm = 0;          ///< global L2 norm before clipping
  double grad_norm_clipped = 0;  ///< after clipping
  double update_rms = 0;         ///< root mean square of the parameter change, trainable parameters
  double param_norm = 0;         ///< global L2 norm of all parameters after the update
  std::int64_t tokens = 0;       ///< target tokens counted in this step
  double seconds = 0;            ///< wall time of the step
  std::uint64_t batch_hash = 0;  ///< hash of the input tokens of the step
};

/// One evaluation on the fixed validation windows, after `step` optimiser steps (the first is step 0).
struct EvalRow {
  std::int64_t step = 0;
  double loss = 0;      ///< nats a token
  double accuracy = 0;  ///< share of next tokens predicted right
  std::int64_t tokens = 0;
};

/// Health of one layer's attention on the training batch at `step`; a channel that a variant lacks is NaN.
struct HealthRow {
  std::int64_t step = 0;
  std::int64_t layer = 0;
  double mx2 = 0;  ///< E‖Mx‖² over queries and keys: above ~2 random features cannot work (method 3.6)
  double kernel_error = 0;     ///< relative RMS error of the estimated output against its own exact kernel
  double min_denominator = 0;  ///< smallest normaliser relative to the row's scale
  double underflow_rows = 0;   ///< rows whose normaliser underflowed
  double sigma_min = 0;        ///< smallest eigenvalue of Σ = MᵀM over heads
  double sigma_max = 0;        ///< largest
  double anisotropy_q = 0;     ///< largest over mean eigenvalue of the query covariance
  double anisotropy_k = 0;     ///< the same of the keys
};

enum class RunStatus { kRunning, kDone, kDiverged, kFailed, kStopped };
const char* Name(RunStatus status);  ///< "running", "done", "diverged", "failed", "stopped"
RunStatus RunStatusFromName(const std::string& name);

/// A whole run in memory: what the HDF5 file holds. `attributes` are text (numbers printed by shortest round
/// trip): config (canonical YAML), config_hash, name, seed, git_revision, build, cpu, threads, data_hash,
/// split_hash, vocab, parameters (count), status, exit_reason, bad_step, bad_tensor, host, started, finished,
/// version, journal_bytes_lost (after a repair that met a torn write); `config.KEY` for every flat config
/// key.
struct RunData {
  std::map<std::string, std::string> attributes;
  std::vector<StepRow> steps;
  std::vector<EvalRow> evals;
  std::vector<HealthRow> health;

  /// Of a run that does not say: running.
  RunStatus status() const;
  /// The value of a flat config key such as "optim.lr", or "" when this run's variant has no such key.
  std::string Config(const std::string& key) const;
};

}  // namespace dark
