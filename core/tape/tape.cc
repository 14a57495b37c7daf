#include "core/tape/tape.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/clock.h"
#include "core/tape/lifetimes.h"

namespace dark {

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "Divergence checks need NaN and infinity: do not build with -ffast-math or -ffinite-math-only."
#endif

namespace {

void Timed(const std::function<void()>& action, double& seconds) {
  const auto start = Clock::now();
  action();
  seconds += SecondsSince(start);
}

}  // namespace

template <class T>
bool AllFinite(const T* values, Index count) {
  return std::all_of(values, values + count, [](T value) { return std::isfinite(value); });
}
template bool AllFinite(const float*, Index);
template bool AllFinite(const double*, Index);

template <class T>
Node<T>* Tape<T>::Activation(const std::string& name, Index rows, Index cols) {
  Node<T>& node = nodes_.emplace_back();
  node.name = name;
  node.rows = rows;
  node.cols = cols;
  values_.Plan(&node.value, rows * cols);
  outputs_.push_back(&node);
  return &node;
}

template <class T>
void Tape<T>::Record(const OpProfile& profile, std::vector<Node<T>*> inputs, Action forward, Action backward,
                     Action prepare) {
  operations_.push_back({profile,
                         std::move(forward),
                         std::move(backward),
                         std::move(prepare),
                         std::move(inputs),
                         std::exchange(outputs_, {}),
                         {}});
  scratch_used_ = 0;
}

// A gradient lives from the last op that reads its node, the first to add to it in a backward pass, to the op
// that made the node.
template <class T>
void Tape<T>::PlanGradients() {
  std::map<const Node<T>*, Lifetime> lifetimes;
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const auto index = static_cast<Index>(i);
    for (const Node<T>* node : operations_[i].outputs)
      lifetimes[node] = {index, index, Arena<T>::Rounded(node->size())};
    for (const Node<T>* node : operations_[i].inputs) {
      const auto found = lifetimes.find(node);
      if (found != lifetimes.end()) found->second.last = index;  // else a parameter
    }
  }
  for (const Operation& operation : operations_) {
    for (Node<T>* node : operation.outputs)
      operations_[static_cast<std::size_t>(lifetimes.at(node).last)].reached.push_back(node);
  }
  std::vector<Node<T>*> nodes;
  std::vector<Lifetime> blocks;
  for (auto it = operations_.rbegin(); it != operations_.rend(); ++it) {
    for (Node<T>* node : it->reached) {
      nodes.push_back(node);
      blocks.push_back(lifetimes.at(node));
    }
  }
  const std::vector<Index> offsets = PlaceByLifetime(blocks);
  for (std::size_t i = 0; i < nodes.size(); ++i) grads_.PlanAt(&nodes[i]->grad, offsets[i], nodes[i]->size());
}

template <class T>
void Tape<T>::Allocate() {
  PlanGradients();
  values_.Allocate();
  grads_.Allocate();
  kept_.Allocate();
  scratch_.Allocate();
}

template <class T>
void Tape<T>::Forward(bool prepare) {
  for (Operation& operation : operations_) {
    if (prepare && operation.prepare) operation.prepare();
    Timed(operation.forward, operation.profile.forward_seconds);
  }
}

template <class T>
bool Tape<T>::Prepares() const {
  return std::any_of(operations_.begin(), operations_.end(),
                     [](const Operation& operation) { return operation.prepare != nullptr; });
}

template <class T>
void Tape<T>::Backward() {
  for (auto it = operations_.rbegin(); it != operations_.rend(); ++it) {
    for (Node<T>* node : it->reached) node->fresh = true;
    for (Node<T>* node : it->outputs) node->StartGradient();  // no op may have added to it
    Timed(it->backward, it->profile.backward_seconds);
  }
}

template <class T>
std::vector<OpProfile> Tape<T>::Profile() const {
  std::vector<OpProfile> profiles;
  for (const Operation& operation : operations_) profiles.push_back(operation.profile);
  return profiles;
}

template <class T>
void Tape<T>::ClearTimes() {
  for (Operation& operation : operations_)
    operation.profile.forward_seconds = operation.profile.backward_seconds = 0;
}

template <class T>
const Node<T>* Tape<T>::FirstNonFinite() const {
  const auto bad = std::find_if(nodes_.begin(), nodes_.end(),
                                [](const Node<T>& n) { return !AllFinite(n.value, n.size()); });
  return bad == nodes_.end() ? nullptr : &*bad;
}

template class Tape<float>;
template class Tape<double>;

}  // namespace dark
