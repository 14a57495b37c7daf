#pragma once

#include "core/tape/tape.h"
#include "core/tensor/bf16.h"

namespace dark {

/// Where an op writes a node's value or gradient part by part, whether the tape keeps it as T or as bfloat16
/// (MayRound).
template <class T>
class Destination {
 public:
  static Destination Value(const Node<T>& node) { return {node.value, node.rounded_value}; }
  static Destination Gradient(const Node<T>& node) { return {node.grad, node.rounded_grad}; }

  /// Elements from `begin` on become `values`, a vector expression.
  template <class Values>
  void Write(Index begin, const Values& values) const {
    using Vector = Eigen::Map<typename Values::PlainObject>;
    if (full_ != nullptr) {
      Vector(full_ + begin, values.rows(), values.cols()) = values;
      return;
    }
    constexpr bool kIsRow = Values::RowsAtCompileTime == 1;
    for (Index i = 0; i < values.size(); i += kPart) {
      const Index count = std::min(kPart, values.size() - i);
      alignas(64) T part[kPart];
      Vector(part, kIsRow ? 1 : count, kIsRow ? count : 1) = values.segment(i, count);
      if constexpr (std::is_same_v<T, float>) RoundToBf16(part, count, rounded_ + begin + i);
    }
  }

 private:
  static constexpr Index kPart = 64;

  Destination(T* full, Bf16* rounded) : full_(full), rounded_(rounded) {}

  T* full_;
  Bf16* rounded_;
};

}  // namespace dark
