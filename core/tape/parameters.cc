#include "core/tape/parameters.h"

#include <algorithm>

namespace dark {

template <class T>
Node<T>* Parameters<T>::Add(const std::string& name, Index rows, Index cols, Init init) {
  Node<T>& node = nodes_.emplace_back();
  node.name = name;
  node.rows = rows;
  node.cols = cols;
  inits_.push_back(std::move(init));
  values_.Plan(&node.value, rows * cols);
  grads_.Plan(&node.grad, rows * cols);
  return &node;
}

template <class T>
Node<T>* Parameters<T>::AddNormal(const std::string& name, Index rows, Index cols, double std) {
  return Add(name, rows, cols, [name, std](std::span<T> values, std::uint64_t seed) {
    Stream(seed, "init/" + name).Normals(values);
    for (T& value : values) value = static_cast<T>(std * static_cast<double>(value));
  });
}

template <class T>
Node<T>* Parameters<T>::AddVector(const std::string& name, Index cols, double fill) {
  return Add(name, 1, cols, [fill](std::span<T> values, std::uint64_t) {
    std::fill(values.begin(), values.end(), static_cast<T>(fill));
  });
}

template <class T>
void Parameters<T>::Allocate() {
  values_.Allocate();
  grads_.Allocate();
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    inits_[i]({nodes_[i].value, static_cast<std::size_t>(nodes_[i].size())}, seed_);
}

template <class T>
Index Parameters<T>::count() const {
  Index count = 0;
  for (const Node<T>& node : nodes_) count += node.size();
  return count;
}

template <class T>
void Parameters<T>::RestartGradients() {
  for (Node<T>& node : nodes_) node.fresh = true;
}

template <class T>
void Parameters<T>::FinishGradients() {
  for (Node<T>& node : nodes_) {
    if (node.trainable) node.StartGradient();
  }
}

template class Parameters<float>;
template class Parameters<double>;

}  // namespace dark
