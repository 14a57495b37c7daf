#include "core/tape/tape.h"

#include <algorithm>
#include <cmath>

#include "core/clock.h"

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

bool IsFinite(Bf16 value) { return (value & 0x7f80) != 0x7f80; }

}  // namespace

template <class T>
bool AllFinite(const T* values, Index count) {
  return std::all_of(values, values + count, [](T value) { return std::isfinite(value); });
}
template bool AllFinite(const float*, Index);
template bool AllFinite(const double*, Index);

template <class T>
Node<T>* Tape<T>::Activation(const std::string& name, Index rows, Index cols, MayRound may_round) {
  Node<T>& node = nodes_.emplace_back();
  node.name = name;
  node.rows = rows;
  node.cols = cols;
  outputs_.emplace_back(&node, may_round);
  return &node;
}

template <class T>
void Tape<T>::Record(const OpProfile& profile, std::vector<NodeUse<T>> inputs, Action forward,
                     Action backward, Action prepare) {
  operations_.push_back({profile,
                         std::move(forward),
                         std::move(backward),
                         std::move(prepare),
                         std::move(inputs),
                         std::exchange(outputs_, {}),
                         {}});
  scratch_used_ = 0;
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
    for (const NodeUse<T>& out : it->outputs) out.node->StartGradient();  // no op may have added to it
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
  const auto bad = std::find_if(nodes_.begin(), nodes_.end(), [](const Node<T>& n) {
    if (n.rounded_value == nullptr) return !AllFinite(n.value, n.size());
    return !std::all_of(n.rounded_value, n.rounded_value + n.size(), IsFinite);
  });
  return bad == nodes_.end() ? nullptr : &*bad;
}

template class Tape<float>;
template class Tape<double>;

}  // namespace dark
