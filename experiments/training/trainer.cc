#include "experiments/training/trainer.h"

#include <cmath>
#include <limits>

#include "core/clock.h"
#include "core/optim/schedule.h"
#include "core/random.h"

namespace dark {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::uint64_t Seed(const RunConfig& config) { return static_cast<std::uint64_t>(config.seed); }

}  // namespace

template <class T>
Trainer<T>::Trainer(const RunConfig& config, const Dataset& data)
    : config_(config),
      data_(data),
      model_(config.model, config.attention, {config.train.batch, config.train.context, data.vocab()},
             Seed(config), OperandsOf(config.train.precision)),
      optimizer_(config.optim, model_.parameters()),
      stream_(data_.train(), config.train.batch, config.train.context, Seed(config)),
      windows_(data_.validation(), config.train.batch, config.train.context, config.train.eval_sequences),
      batches_(static_cast<std::size_t>(config.train.accumulate)) {
  model_.Allocate();
}

template <class T>
void Trainer<T>::Calibrate() {
  stream_.Fill(0, batches_[0]);
  model_.SetBatch(batches_[0].inputs.data(), batches_[0].targets.data());
  model_.Calibrate();
}

// Counts optimiser steps (method.md rule 19): the draw is one number for a whole step and never moves in
// evaluation.
template <class T>
void Trainer<T>::RedrawIfDue() {
  const Index interval = config_.attention.redraw;
  if (interval == 0 || counters_.step % interval != 0) return;
  const Index due = counters_.step / interval;
  if (due == counters_.redraw) return;
  counters_.redraw = due;
  model_.Redraw(due);
}

template <class T>
Index Trainer<T>::ReadBatches() {
  Index tokens = 0;
  for (Batch& batch : batches_) {
    stream_.Fill(counters_.sequence++, batch);
    tokens += batch.tokens;
  }
  return tokens;
}

// Mean loss over all tokens of the step, gradients accumulated with the weight 1/tokens.
template <class T>
double Trainer<T>::ForwardBackward(Index tokens) {
  const double scale = 1 / static_cast<double>(tokens);
  double loss = 0;
  for (const Batch& batch : batches_) {
    model_.SetBatch(batch.inputs.data(), batch.targets.data());
    loss += model_.ForwardBackward(scale).loss * scale;
    if (!std::isfinite(loss)) return loss;
  }
  return loss;
}

template <class T>
StepRow Trainer<T>::Step(Divergence& divergence) {
  const auto start = Clock::now();
  RedrawIfDue();
  model_.parameters().RestartGradients();
  StepRow row;
  row.step = counters_.step;
  row.lr = LearningRate(config_.optim, config_.train.steps, counters_.step);
  row.tokens = ReadBatches();
  for (const Batch& batch : batches_) row.batch_hash = Mix(row.batch_hash ^ batch.hash);
  row.loss = ForwardBackward(row.tokens);
  row.grad_norm = row.grad_norm_clipped = row.update_rms = row.param_norm = kNaN;
  if (!std::isfinite(row.loss)) {
    const Node<T>* bad = model_.tape().FirstNonFinite();
    divergence = {bad != nullptr ? bad->name : "loss", "loss is not finite"};
  } else {
    const UpdateStats stats = optimizer_.Step(row.lr);
    row.grad_norm = stats.grad_norm;
    row.grad_norm_clipped = stats.grad_norm_clipped;
    row.update_rms = stats.update_rms;
    row.param_norm = stats.param_norm;
    if (!stats.bad_tensor.empty()) divergence = {stats.bad_tensor, "gradient or parameter is not finite"};
  }
  ++counters_.step;
  row.seconds = SecondsSince(start);
  return row;
}

template <class T>
EvalRow Trainer<T>::Evaluate() {
  LossSums sums;
  for (Index i = 0; i < windows_.batches(); ++i) {
    windows_.Fill(i, eval_batch_);
    model_.SetBatch(eval_batch_.inputs.data(), eval_batch_.targets.data());
    const LossSums batch = model_.Forward();
    sums.loss += batch.loss;
    sums.correct += batch.correct;
    sums.tokens += batch.tokens;
  }
  const auto tokens = static_cast<double>(sums.tokens);
  return {counters_.step, sums.loss / tokens, static_cast<double>(sums.correct) / tokens, sums.tokens};
}

template <class T>
std::vector<HealthRow> Trainer<T>::Health() const {
  std::vector<HealthRow> rows;
  for (const LayerHealth& h : model_.Health()) {
    rows.push_back({counters_.step, static_cast<Index>(rows.size()), h.mx2, h.kernel_error, h.min_denominator,
                    h.underflow_rows, h.sigma_min, h.sigma_max, h.anisotropy_q, h.anisotropy_k});
  }
  return rows;
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace dark
