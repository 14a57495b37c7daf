#include "core/tape/gradient_check.h"

#include <algorithm>
#include <cmath>

namespace dark {

GradientError CheckGradients(const std::function<double()>& loss, const std::function<void()>& backward,
                             const std::vector<Node<double>*>& nodes, Index samples, double step,
                             double floor) {
  loss();
  backward();
  std::vector<std::vector<double>> analytic;
  for (const Node<double>* node : nodes) analytic.emplace_back(node->grad, node->grad + node->size());
  GradientError worst;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Node<double>& node = *nodes[i];
    const Index stride = std::max<Index>(1, node.size() / samples);
    for (Index element = 0; element < node.size(); element += stride) {
      double& value = node.value[element];
      const double saved = value, h = step * std::max(1.0, std::abs(saved));
      const auto at = [&](double offset) {
        value = saved + offset;
        return loss();
      };
      // Five points: the error is of order h⁴, so h may be large enough for the rounding of the loss not to
      // show.
      const double numeric = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
      value = saved;
      const double exact = analytic[i][static_cast<std::size_t>(element)];
      const double error = std::abs(exact - numeric) / std::max({std::abs(exact), std::abs(numeric), floor});
      if (std::isnan(error) || error > worst.error) worst = {error, node.name, element, exact, numeric};
    }
  }
  return worst;
}

}  // namespace dark
