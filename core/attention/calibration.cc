#include "core/attention/calibration.h"

#include <fmt/format.h>

#include <cmath>

#include "core/attention/whitening.h"
#include "core/error.h"

namespace dark {
namespace {

// Rows of all heads of `x` that belong to one set, stacked: [heads in set · N × dim].
template <class T>
Eigen::MatrixXd SetSamples(const Node<T>& x, Index heads, Index set, Index sets, Index dim, double scale) {
  const Index group = std::max<Index>(1, heads / sets), first = set * heads / sets;
  Eigen::MatrixXd samples(group * x.rows, dim);
  for (Index i = 0; i < group; ++i) {
    samples.middleRows(i * x.rows, x.rows) =
        scale * x.Value().middleCols((first + i) * dim, dim).template cast<double>();
  }
  return samples;
}

}  // namespace

template <class T>
Eigen::MatrixXd CalibrationCovariance(const CalibrationInputs<T>& in, Index set, Index sets,
                                      const std::string& name) {
  PooledCovariance pooled(in.dim);
  pooled.AddGroup(SetSamples(*in.q, in.q_heads, set, sets, in.dim, in.scale));
  pooled.AddGroup(SetSamples(*in.k, in.k_heads, set, sets, in.dim, in.scale));
  if (pooled.samples() < 4)
    throw Error(fmt::format("{}: calibration needs at least 2 queries and 2 keys in the batch", name));
  Eigen::MatrixXd covariance = pooled.Value();
  if (!(covariance.trace() > 0) || !std::isfinite(covariance.trace()))
    throw Error(fmt::format("{}: the calibration batch has no finite, positive variance", name));
  return covariance;
}
template Eigen::MatrixXd CalibrationCovariance(const CalibrationInputs<float>&, Index, Index,
                                               const std::string&);
template Eigen::MatrixXd CalibrationCovariance(const CalibrationInputs<double>&, Index, Index,
                                               const std::string&);

}  // namespace dark
