#include "core/tensor/decompositions.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

namespace dark {

SymmetricEigen::SymmetricEigen(const Eigen::MatrixXd& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric);
  values = solver.eigenvalues();
  vectors = solver.eigenvectors();
}

Eigen::MatrixXd SignedQ(const Eigen::MatrixXd& square) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(square);
  Eigen::MatrixXd q = qr.householderQ();
  for (Eigen::Index c = 0; c < q.cols(); ++c) {
    if (qr.matrixQR()(c, c) < 0) q.col(c) *= -1;
  }
  return q;
}

}  // namespace dark
