#include "core/optim/adamw.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "core/optim/patterns.h"
#include "core/optim/squared_sum.h"

namespace dark {
namespace {

constexpr Index kBlock = 2048;  // elements of one task
constexpr Index kPiece = SquaredSum::kPiece;

/// At most kPiece elements: in memory, and beside it.
template <class T>
using Span = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using Piece = Eigen::Array<T, Eigen::Dynamic, 1, 0, kPiece, 1>;

/// Runs `body(begin, length)` on the pieces of [begin, begin + size).
template <class Body>
void ForPieces(Index begin, Index size, const Body& body) {
  for (Index i = 0; i < size; i += kPiece) body(begin + i, std::min(kPiece, size - i));
}

template <class T>
double SquaresOf(const T* x, Index begin, Index size) {
  SquaredSum sum;
  ForPieces(begin, size, [&](Index at, Index length) { sum.Add(x + at, length); });
  return sum.Total();
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
    for (Index begin = 0; begin < node.size(); begin += kBlock)
      blocks_.push_back({rules_.size() - 1, begin, std::min(kBlock, node.size() - begin)});
  }
  moments_.Allocate();
  // no_decay is not checked: its default names tensors that not every variant has.
  for (const std::string& pattern : options.trainable) RequireMatch("trainable", pattern, names);
  for (const auto& entry : options.lr_factor) RequireMatch("lr_factor", entry.first, names);
}

template <class T>
double AdamW<T>::GradientNorm(std::string& bad_tensor) {
  parameters_.FinishGradients();
  ForBlocks([&](Block& block, const Node<T>& node) {
    if (node.trainable) block.gradient = SquaresOf(node.grad, block.begin, block.size);
  });
  double sum = 0;
  for (const Block& block : blocks_) {
    if (!std::isfinite(block.gradient) && bad_tensor.empty()) bad_tensor = "grad " + NodeOf(block).name;
    sum += block.gradient;
  }
  return std::sqrt(sum);
}

// All in one pass over memory; the sizes of update and parameter too, while both are at hand.
template <class T>
void AdamW<T>::Update(Block& block, const Node<T>& node, const Factors& f) {
  if (!node.trainable) {
    block.value = SquaresOf(node.value, block.begin, block.size);
    return;
  }
  const ParameterRule& rule = rules_[block.parameter];
  const T b1 = static_cast<T>(options_.beta1), b2 = static_cast<T>(options_.beta2);
  const T rate = static_cast<T>(f.lr * rule.lr_factor), eps = static_cast<T>(options_.eps);
  const T keep = static_cast<T>(1 - f.lr * rule.lr_factor * rule.decay);
  SquaredSum change, value;
  ForPieces(block.begin, block.size, [&](Index at, Index length) {
    Span<T> p(node.value + at, length), m(first_[block.parameter] + at, length),
        v(second_[block.parameter] + at, length);
    const Piece<T> g = f.clip * Span<T>(node.grad + at, length), before = p;
    m = b1 * m + (T(1) - b1) * g;
    v = b2 * v + (T(1) - b2) * g.square();
    p = keep * p - rate * (f.correct1 * m) / ((f.correct2 * v).sqrt() + eps);
    value.Add(p.data(), length);
    const Piece<T> difference = p - before;
    change.Add(difference.data(), length);
  });
  block.value = value.Total();
  block.change = change.Total();
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
  ForBlocks([&](Block& block, const Node<T>& node) { Update(block, node, factors); });
  Measure(stats);
  return stats;
}

template <class T>
void AdamW<T>::Measure(UpdateStats& stats) const {
  double change = 0, norm = 0;
  Index changed = 0;
  for (const Block& block : blocks_) {
    const Node<T>& node = NodeOf(block);
    if (!std::isfinite(block.value) && stats.bad_tensor.empty()) stats.bad_tensor = node.name;
    if (node.trainable) changed += block.size;
    change += block.change;
    norm += block.value;
  }
  stats.update_rms = changed > 0 ? std::sqrt(change / static_cast<double>(changed)) : 0;
  stats.param_norm = std::sqrt(norm);
}

template class AdamW<float>;
template class AdamW<double>;

}  // namespace dark
