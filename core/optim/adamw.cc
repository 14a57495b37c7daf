#include "core/optim/adamw.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "core/optim/patterns.h"
#include "core/tensor/parallel.h"

namespace dark {
namespace {

constexpr Index kBlock = 2048;  // elements of one task: they stay in the first-level cache through all of it

template <class T>
using Span = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;

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
  first_.resize(parameters.nodes().size());
  second_.resize(parameters.nodes().size());
  for (Node<T>& node : parameters.nodes()) {
    names.push_back(node.name);
    rules_.push_back(RuleFor(options, node.name));
    node.trainable = rules_.back().trainable;
    if (node.trainable) {
      moments_.Plan(&first_[rules_.size() - 1], node.size());
      moments_.Plan(&second_[rules_.size() - 1], node.size());
      for (Index begin = 0; begin < node.size(); begin += kBlock)
        blocks_.push_back({rules_.size() - 1, begin, std::min(kBlock, node.size() - begin)});
      gradients_.Add(&node.grad, nullptr, node.size());
      changes_.Add(&node.value, &node.grad, node.size());
    }
    values_.Add(&node.value, nullptr, node.size());
  }
  moments_.Allocate();
  // no_decay is not checked: its default names tensors that not every variant has.
  for (const std::string& pattern : options.trainable) RequireMatch("trainable", pattern, names);
  for (const auto& entry : options.lr_factor) RequireMatch("lr_factor", entry.first, names);
}

template <class T>
double AdamW<T>::GradientNorm(std::string& bad_tensor) {
  gradients_.Take();
  double sum = 0;
  std::size_t i = 0;
  for (const Node<T>& node : parameters_.nodes()) {
    if (!node.trainable) continue;
    const double square = gradients_[i++];
    if (!std::isfinite(square) && bad_tensor.empty()) bad_tensor = "grad " + node.name;
    sum += square;
  }
  return std::sqrt(sum);
}

template <class T>
void AdamW<T>::Update(const Block& block, const Factors& f) {
  const ParameterRule& rule = rules_[block.parameter];
  const Node<T>& node = parameters_.nodes()[block.parameter];
  const T b1 = static_cast<T>(options_.beta1), b2 = static_cast<T>(options_.beta2);
  const T rate = static_cast<T>(f.lr * rule.lr_factor);
  const T keep = static_cast<T>(1 - f.lr * rule.lr_factor * rule.decay);
  Span<T> p(node.value + block.begin, block.size), g(node.grad + block.begin, block.size);
  Span<T> m(first_[block.parameter] + block.begin, block.size);
  Span<T> v(second_[block.parameter] + block.begin, block.size);
  g *= f.clip;
  m = b1 * m + (T(1) - b1) * g;
  v = b2 * v + (T(1) - b2) * g.square();
  g = p;  // the gradient is spent; its place keeps the old value for the update's size
  p = keep * p - rate * (f.correct1 * m) / ((f.correct2 * v).sqrt() + static_cast<T>(options_.eps));
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
  const Factors factors = {lr, static_cast<T>(clip), static_cast<T>(1 / (1 - std::pow(options_.beta1, t))),
                           static_cast<T>(1 / (1 - std::pow(options_.beta2, t)))};
  ParallelFor(static_cast<Index>(blocks_.size()),
              [&](Index i) { Update(blocks_[static_cast<std::size_t>(i)], factors); });
  Measure(stats);
  return stats;
}

template <class T>
void AdamW<T>::Measure(UpdateStats& stats) {
  changes_.Take();
  values_.Take();
  double change = 0, norm = 0;
  Index changed = 0;
  std::size_t i = 0, trainable = 0;
  for (const Node<T>& node : parameters_.nodes()) {
    if (node.trainable) {
      change += changes_[trainable++];
      changed += node.size();
    }
    const double square = values_[i++];
    if (!std::isfinite(square) && stats.bad_tensor.empty()) stats.bad_tensor = node.name;
    norm += square;
  }
  stats.update_rms = changed > 0 ? std::sqrt(change / static_cast<double>(changed)) : 0;
  stats.param_norm = std::sqrt(norm);
}

template class AdamW<float>;
template class AdamW<double>;

}  // namespace dark
