#include "core/attention/whitening.h"

#include <Eigen/Eigenvalues>

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
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(lambda);
  const Eigen::MatrixXd v = eigen.eigenvectors().rightCols(rank);
  const Eigen::VectorXd root = eigen.eigenvalues().tail(rank).array().rsqrt();
  if (rank == dim) return scale * v * root.asDiagonal() * v.transpose();
  return scale * root.asDiagonal() * v.transpose();
}

double Anisotropy(const Eigen::MatrixXd& covariance) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(covariance, Eigen::EigenvaluesOnly);
  return eigen.eigenvalues().maxCoeff() / eigen.eigenvalues().mean();
}

}  // namespace dark
