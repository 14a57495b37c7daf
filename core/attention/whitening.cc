#include "core/attention/whitening.h"

#include "core/tensor/decompositions.h"

namespace dark {

void PooledCovariance::AddGroup(const Eigen::MatrixXd& samples) {
  const Eigen::MatrixXd centred = samples.rowwise() - samples.colwise().mean();
  scatter_ += centred.transpose() * centred;
  samples_ += samples.rows();
  freedom_ += samples.rows() - 1;
}

Eigen::MatrixXd PooledCovariance::Value() const { return scatter_ / static_cast<double>(freedom_); }

Eigen::MatrixXd Whitening(const Eigen::MatrixXd& covariance, Index rank, double scale, double shrinkage,
                          double loading) {
  const Index dim = covariance.rows();
  const double mean_variance = covariance.trace() / static_cast<double>(dim);
  Eigen::MatrixXd lambda = (1 - shrinkage) * covariance;
  lambda.diagonal().array() += (shrinkage + loading) * mean_variance;
  const SymmetricEigen eigen(lambda);
  const Eigen::MatrixXd v = eigen.vectors.rightCols(rank);
  const Eigen::VectorXd root = eigen.values.tail(rank).array().rsqrt();
  if (rank == dim) return scale * v * root.asDiagonal() * v.transpose();
  return scale * root.asDiagonal() * v.transpose();
}

double Anisotropy(const Eigen::MatrixXd& covariance) {
  const SymmetricEigen eigen(covariance);
  return eigen.values.maxCoeff() / eigen.values.mean();
}

}  // namespace dark
