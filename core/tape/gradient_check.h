#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/tape/tape.h"

namespace dark {

/// The worst disagreement that CheckGradients found.
struct GradientError {
  double error = 0;  ///< |analytic − numeric| / max(|analytic|, |numeric|, floor)
  std::string node;
  Index element = 0;
  double analytic = 0, numeric = 0;
};

/// Compares the gradients of `nodes` with central differences, in double. `loss` evaluates the objective at
/// the nodes' present values, `backward` leaves its gradient in their `grad`. At most `samples` elements a
/// node are probed, evenly spread. `floor` keeps tiny gradients from being compared to rounding noise.
GradientError CheckGradients(const std::function<double()>& loss, const std::function<void()>& backward,
                             const std::vector<Node<double>*>& nodes, Index samples = 40, double step = 5e-4,
                             double floor = 1e-3);

}  // namespace dark
