#include "core/optim/adamw.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "core/optim/patterns.h"
#include "core/tensor/parallel.h"

namespace dark {
namespace {

constexpr Index kBlock = 16384;  // elements of one task; fixed, so that the order of addition is

template <class T>
using Span = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;

// Σ over blocks of body(begin, end), in block order.
template <class Body>
double BlockSum(Index size, std::vector<double>& partial, const Body& body) {
  const Index blocks = (size + kBlock - 1) / kBlock;
  ParallelBlocks(size, kBlock, [&](Index begin, Index end, Index block) {
    partial[static_cast<std::size_t>(block)] = body(begin, end);
  });
  double sum = 0;
  for (Index block = 0; block < blocks; ++block) sum += partial[static_cast<std::size_t>(block)];
  return sum;
}

template <class T>
double SquaredNorm(T* data, Index begin, Index end) {
  return Span<T>(data + begin, end - begin).template cast<double>().square().sum();
}

void RequireMatch(const std::string& key, const std::string& pattern, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (MatchesName(pattern, name)) return;
  }
  throw Error(fmt::format("optim.{}: pattern '{}' matches no parameter of this model", key, pattern));
}

}  // namespace

ParameterRule RuleFor(const OptimOptions& o, const std::string& name) {
  ParameterRule rule{MatchesAny(o.trainable, name), MatchesAny(o.no_decay, name) ? 0 : o.weight_decay, 1};
  for (const auto& [pattern, factor] : o.lr_factor) {
    if (MatchesName(pattern, name)) rule.lr_factor = factor;
  }
  return rule;
}

template <class T>
AdamW<T>::AdamW(const OptimOptions& options, Parameters<T>& parameters)
    : options_(options), parameters_(parameters) {
  std::vector<std::string> names;
  Index largest = 0;
  first_.resize(parameters.nodes().size());
  second_.resize(parameters.nodes().size());
  for (Node<T>& node : parameters.nodes()) {
    names.push_back(node.name);
    rules_.push_back(RuleFor(options, node.name));
    node.trainable = rules_.back().trainable;
    if (node.trainable) {
      moments_.Plan(&first_[rules_.size() - 1], node.size());
      moments_.Plan(&second_[rules_.size() - 1], node.size());
    }
    largest = std::max(largest, node.size());
  }
  moments_.Allocate();
  // no_decay is not checked: its default names tensors that not every variant has.
  for (const std::string& pattern : options.trainable) RequireMatch("trainable", pattern, names);
  for (const auto& entry : options.lr_factor) RequireMatch("lr_factor", entry.first, names);
  partial_.resize(static_cast<std::size_t>((largest + kBlock - 1) / kBlock));
}

template <class T>
double AdamW<T>::GradientNorm(std::string& bad_tensor) const {
  double sum = 0;
  for (const Node<T>& node : parameters_.nodes()) {
    if (!node.trainable) continue;
    const double square = BlockSum(
        node.size(), partial_, [&](Index begin, Index end) { return SquaredNorm(node.grad, begin, end); });
    if (!std::isfinite(square) && bad_tensor.empty()) bad_tensor = "grad " + node.name;
    sum += square;
  }
  return std::sqrt(sum);
}

template <class T>
UpdateStats AdamW<T>::Step(double lr) {
  UpdateStats stats;
  stats.grad_norm = stats.grad_norm_clipped = GradientNorm(stats.bad_tensor);
  if (!stats.bad_tensor.empty()) return stats;
  ++steps_;
  double clip = 1;
  if (options_.clip > 0 && stats.grad_norm > options_.clip) {
    clip = options_.clip / stats.grad_norm;
    stats.grad_norm_clipped = options_.clip;
  }
  const auto t = static_cast<double>(steps_);
  const T b1 = static_cast<T>(options_.beta1), b2 = static_cast<T>(options_.beta2);
  const T correct1 = static_cast<T>(1 / (1 - std::pow(options_.beta1, t)));
  const T correct2 = static_cast<T>(1 / (1 - std::pow(options_.beta2, t)));
  double change = 0, norm = 0;
  Index changed = 0;
  std::size_t index = 0;
  for (Node<T>& node : parameters_.nodes()) {
    const std::size_t i = index++;
    if (node.trainable) {
      const T rate = static_cast<T>(lr * rules_[i].lr_factor);
      const T keep = static_cast<T>(1 - lr * rules_[i].lr_factor * rules_[i].decay);
      change += BlockSum(node.size(), partial_, [&](Index begin, Index end) {
        const Index n = end - begin;
        Span<T> p(node.value + begin, n), g(node.grad + begin, n);
        Span<T> m(first_[i] + begin, n), v(second_[i] + begin, n);
        g *= static_cast<T>(clip);
        m = b1 * m + (T(1) - b1) * g;
        v = b2 * v + (T(1) - b2) * g.square();
        g = p;  // the gradient is spent; its place keeps the old value for the update's size
        p = keep * p - rate * (correct1 * m) / ((correct2 * v).sqrt() + static_cast<T>(options_.eps));
        return (p - g).template cast<double>().square().sum();
      });
      changed += node.size();
    }
    const double square = BlockSum(
        node.size(), partial_, [&](Index begin, Index end) { return SquaredNorm(node.value, begin, end); });
    if (!std::isfinite(square) && stats.bad_tensor.empty()) stats.bad_tensor = node.name;
    norm += square;
  }
  stats.update_rms = changed > 0 ? std::sqrt(change / static_cast<double>(changed)) : 0;
  stats.param_norm = std::sqrt(norm);
  return stats;
}

template class AdamW<float>;
template class AdamW<double>;

}  // namespace dark
