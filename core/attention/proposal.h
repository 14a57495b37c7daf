#pragma once

#include <Eigen/Core>
#include <string>

namespace dark {

/// The symmetric root S^½ of a Gaussian proposal N(0, S) for the base draws, w = S^½u, when queries and keys
/// have covariance Λ. `proposal` is
///   optimal: S = (I + 2Λ)(I − 2Λ)^-1, which minimises the mean second moment of the estimator over iid draws
///            (paper Theorem 3.2). Throws Error in the name of `name` when an eigenvalue of Λ is not below ½,
///            where it does not exist;
///   sderf:   S = I − 4A with A of the dense-exponential family, which minimises the mean log second moment
///            (method.md 3.3c); it exists for every Λ.
Eigen::MatrixXd ProposalRoot(const std::string& proposal, const Eigen::MatrixXd& covariance,
                             const std::string& name);

}  // namespace dark
