#pragma once

#include "core/tape/tape.h"
#include "core/tensor/bf16.h"
#include "core/tensor/bf16_matmul.h"
#include "core/tensor/past_caches.h"

namespace dark {

/// Where an op writes a node's value or gradient part by part, whether the tape keeps it as T or as bfloat16
/// (MayRound), and whether it fits into the caches or not.
template <class T>
class Destination {
 public:
  static Destination Value(const Node<T>& node) { return {node.value, node.rounded_value, node.size()}; }
  static Destination Gradient(const Node<T>& node) { return {node.grad, node.rounded_grad, node.size()}; }

  /// Elements from `begin` on become `values`, a vector expression.
  template <class Values>
  void Write(Index begin, const Values& values) const {
    using Vector = Eigen::Map<typename Values::PlainObject>;
    if (full_ != nullptr && !past_caches_) {
      Vector(full_ + begin, values.rows(), values.cols()) = values;
      return;
    }
    constexpr bool kIsRow = Values::RowsAtCompileTime == 1;
    for (Index i = 0; i < values.size(); i += kPart) {
      const Index count = std::min(kPart, values.size() - i);
      alignas(64) T part[kPart];
      Vector(part, kIsRow ? 1 : count, kIsRow ? count : 1) = values.segment(i, count);
      WritePart(part, count, begin + i);
    }
  }

 private:
  static constexpr Index kPart = 64;
  /// Arrays of more bytes are written past the caches; arrays of 1 to 8 MB gained as much as they lost.
  static constexpr Index kCached = Index{4} << 20;

  Destination(T* full, Bf16* rounded, Index size)
      : full_(full),
        rounded_(rounded),
        past_caches_(size * static_cast<Index>(full != nullptr ? sizeof(T) : sizeof(Bf16)) > kCached) {}

  void WritePart(const T* part, Index count, Index begin) const {
    if constexpr (kOwnBf16<T>) {
      if (rounded_ != nullptr) {
        if (!past_caches_) return RoundToBf16(part, count, rounded_ + begin);
        alignas(64) Bf16 rounded[kPart];
        RoundToBf16(part, count, rounded);
        return CopyPastCaches(rounded, count, rounded_ + begin);
      }
    }
    CopyPastCaches(part, count, full_ + begin);
  }

  T* full_;
  Bf16* rounded_;
  bool past_caches_;
};

}  // namespace dark
