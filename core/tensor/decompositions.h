#pragma once

#include <Eigen/Core>

namespace dark {

// The decompositions of dense matrices that the project needs, in double and in one file: their templates
// take longer to compile than the rest of the room, and none is called in a hot loop.

/// Eigenvalues in ascending order and, in columns, orthonormal eigenvectors of a symmetric matrix.
struct SymmetricEigen {
  explicit SymmetricEigen(const Eigen::MatrixXd& symmetric);
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};

/// Q of the QR decomposition of a square matrix, with column c multiplied by the sign of R_cc (0 counts as
/// +1): Haar distributed when the entries are independent N(0, 1).
Eigen::MatrixXd SignedQ(const Eigen::MatrixXd& square);

}  // namespace dark
