#pragma once

#include <Eigen/Core>

#include "core/setting.h"

namespace dark {

/// Pooled second-order statistics in double: add samples by group, each group centred by its own mean.
class PooledCovariance {
 public:
  explicit PooledCovariance(Index dim) : scatter_(Eigen::MatrixXd::Zero(dim, dim)) {}
  /// `samples` has one sample a row.
  void AddGroup(const Eigen::MatrixXd& samples);
  Index samples() const { return samples_; }
  /// Unbiased: Σ scatter / Σ (n_g − 1). Needs at least one degree of freedom.
  Eigen::MatrixXd Value() const;

 private:
  Eigen::MatrixXd scatter_;
  Index samples_ = 0;
  Index freedom_ = 0;
};

/// M [rank × d] = scale · Λ^-1/2 (paper Prop. C.1), Λ = (1−shrinkage)·C + shrinkage·s·I + loading·s·I with s
/// the mean variance. Full rank gives the symmetric root; a lower rank keeps the directions of largest
/// variance.
Eigen::MatrixXd Whitening(const Eigen::MatrixXd& covariance, Index rank, double scale, double shrinkage,
                          double loading);

/// Largest over mean eigenvalue of a covariance: 1 for an isotropic one, d for a line.
double Anisotropy(const Eigen::MatrixXd& covariance);

}  // namespace dark
