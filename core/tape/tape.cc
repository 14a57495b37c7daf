#include "core/tape/tape.h"

#include <algorithm>
#include <cmath>

namespace dark {

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "Divergence checks need NaN and infinity: do not build with -ffast-math or -ffinite-math-only."
#endif

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
  grads_.Plan(&node.grad, rows * cols);
  return &node;
}

template <class T>
void Tape<T>::Record(Action forward, Action backward, Action prepare) {
  operations_.push_back({std::move(forward), std::move(backward), std::move(prepare)});
}

template <class T>
void Tape<T>::Allocate() {
  values_.Allocate();
  grads_.Allocate();
  scratch_.Allocate();
}

template <class T>
void Tape<T>::Forward(bool prepare) {
  for (const Operation& operation : operations_) {
    if (prepare && operation.prepare) operation.prepare();
    operation.forward();
  }
}

template <class T>
void Tape<T>::Backward() {
  std::fill(grads_.data(), grads_.data() + grads_.size(), T(0));
  for (auto it = operations_.rbegin(); it != operations_.rend(); ++it) it->backward();
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
