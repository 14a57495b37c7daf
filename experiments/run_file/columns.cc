#include "experiments/run_file/columns.h"

#include <bit>
#include <type_traits>

namespace dark {
namespace {

// A row in the journal is the row in memory, which is why rows may hold 8-byte numbers only and why the byte
// order is fixed. A machine of the other byte order would have to swap here, and no such machine is in sight.
static_assert(std::endian::native == std::endian::little);
template <class Row, int columns>
constexpr bool kPlain = std::is_trivially_copyable_v<Row> && sizeof(Row) == 8 * columns;
static_assert(kPlain<StepRow, 10> && kPlain<EvalRow, 4> && kPlain<HealthRow, 10>);

}  // namespace

template <>
const Table<StepRow>& TableOf<StepRow>() {
  using R = StepRow;
  static const Table<R> table{
      "steps",
      "every optimiser step",
      2,
      &RunData::steps,
      {
          {"step", "", "optimiser steps done before this one", &R::step},
          {"loss", "nats/token", "mean cross-entropy over all tokens of the step", &R::loss},
          {"lr", "", "learning rate used by this step", &R::lr},
          {"grad_norm", "", "global L2 norm of the gradient before clipping", &R::grad_norm},
          {"grad_norm_clipped", "", "the same after clipping", &R::grad_norm_clipped},
          {"update_rms", "", "root mean square change of the trainable parameters", &R::update_rms},
          {"param_norm", "", "global L2 norm of all parameters after the update", &R::param_norm},
          {"tokens", "tokens", "target tokens counted in this step", &R::tokens},
          {"seconds", "s", "wall time of the step", &R::seconds},
          {"batch_hash", "", "hash of the input tokens of the step", &R::batch_hash},
      }};
  return table;
}

template <>
const Table<EvalRow>& TableOf<EvalRow>() {
  using R = EvalRow;
  static const Table<R> table{"eval",
                              "evaluations on the fixed validation windows",
                              3,
                              &RunData::evals,
                              {
                                  {"step", "", "optimiser steps done before the evaluation", &R::step},
                                  {"loss", "nats/token", "mean cross-entropy", &R::loss},
                                  {"accuracy", "share", "next tokens predicted right", &R::accuracy},
                                  {"tokens", "tokens", "target tokens evaluated", &R::tokens},
                              }};
  return table;
}

template <>
const Table<HealthRow>& TableOf<HealthRow>() {
  using R = HealthRow;
  static const Table<R> table{
      "health",
      "attention of each layer on the training batch; NaN where a variant has no such channel",
      4,
      &RunData::health,
      {
          {"step", "", "optimiser steps done before the measurement", &R::step},
          {"layer", "", "layer, from 0", &R::layer},
          {"mx2", "", "mean of |Mx|^2 over queries and keys", &R::mx2},
          {"kernel_error", "ratio", "relative RMS error of the output against the own exact kernel",
           &R::kernel_error},
          {"min_denominator", "ratio", "smallest normaliser relative to the scale of its row",
           &R::min_denominator},
          {"underflow_rows", "rows", "rows whose normaliser underflowed", &R::underflow_rows},
          {"sigma_min", "", "smallest eigenvalue of M'M over heads", &R::sigma_min},
          {"sigma_max", "", "largest eigenvalue of M'M over heads", &R::sigma_max},
          {"anisotropy_q", "ratio", "largest over mean eigenvalue of the query covariance", &R::anisotropy_q},
          {"anisotropy_k", "ratio", "the same of the keys", &R::anisotropy_k},
      }};
  return table;
}

}  // namespace dark
