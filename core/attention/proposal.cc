#include "core/attention/proposal.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "core/tensor/decompositions.h"

namespace dark {
namespace {

double Optimal(double variance) { return (1 + 2 * variance) / (1 - 2 * variance); }

// With t = 2λ, the variance of q + k in one direction.
double Sderf(double variance) {
  const double t = 2 * variance;
  return 1 - (1 - 2 * t - std::sqrt((2 * t + 1) * (2 * t + 1) + 8 * t)) / 4;
}

}  // namespace

Eigen::MatrixXd ProposalRoot(const std::string& proposal, const Eigen::MatrixXd& covariance,
                             const std::string& name) {
  const SymmetricEigen eigen(covariance);
  const bool optimal = proposal == "optimal";
  if (const double largest = eigen.values.maxCoeff(); optimal && !(largest < 0.5))
    throw Error(
        fmt::format("attention.proposal: optimal does not exist for {}: its queries and keys have a variance "
                    "of {:.3g}, which must be below 0.5; use sderf, or a smaller whitening_scale",
                    name, largest));
  const Eigen::VectorXd root = eigen.values.unaryExpr([&](double variance) {
    return std::sqrt(optimal ? Optimal(std::max(variance, 0.0)) : Sderf(std::max(variance, 0.0)));
  });
  return eigen.vectors * root.asDiagonal() * eigen.vectors.transpose();
}

}  // namespace dark
