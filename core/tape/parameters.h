#pragma once

#include <deque>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/tape/tape.h"

namespace dark {

/// The parameters of a model by name, values and gradients in one block each. Initial values come from
/// streams named after the parameter, so they do not depend on what else the model holds.
template <class T>
class Parameters {
 public:
  explicit Parameters(std::uint64_t seed) : seed_(seed) {}
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  /// Fills the initial values; the streams it draws from are keyed by the seed it is given.
  using Init = std::function<void(std::span<T> values, std::uint64_t seed)>;

  Node<T>* Add(const std::string& name, Index rows, Index cols, Init init);
  /// A parameter drawn from N(0, std²) by the stream "init/<name>".
  Node<T>* AddNormal(const std::string& name, Index rows, Index cols, double std);
  /// A row vector with every value `fill`.
  Node<T>* AddVector(const std::string& name, Index cols, double fill);
  void Allocate();

  std::deque<Node<T>>& nodes() { return nodes_; }
  const std::deque<Node<T>>& nodes() const { return nodes_; }
  Index count() const;
  /// What gradients hold is spent: the first op that adds to one writes it instead (Node::Beta).
  void RestartGradients();
  /// What no op has added to since then is 0.
  void FinishGradients();
  std::uint64_t seed() const { return seed_; }

 private:
  std::uint64_t seed_;
  std::deque<Node<T>> nodes_;
  std::vector<Init> inits_;
  Arena<T> values_, grads_;
};

}  // namespace dark
