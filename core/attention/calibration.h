#pragma once

#include <Eigen/Core>
#include <string>

#include "core/tape/tape.h"

namespace dark {

/// Queries and keys of one calibration batch, as they stand in the activations of a layer.
template <class T>
struct CalibrationInputs {
  const Node<T>*q, *k;
  Index q_heads, k_heads, dim;
  double scale;  ///< what the inputs still have to be multiplied with (method.md rule 2)
};

/// Covariance [dim × dim] of the heads that belong to one of `sets` groups, in double, unbiased, pooled
/// within queries and within keys (rule 17). Throws Error in the name of `name` when there are fewer than two
/// queries and keys, or no finite positive variance.
template <class T>
Eigen::MatrixXd CalibrationCovariance(const CalibrationInputs<T>& inputs, Index set, Index sets,
                                      const std::string& name);

}  // namespace dark
