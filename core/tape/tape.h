#pragma once

#include <Eigen/Core>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "core/tape/work.h"
#include "core/tensor/arena.h"
#include "core/tensor/matmul.h"

namespace dark {

template <class T>
using MatrixMap = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// A matrix on the tape: activations are [B·T tokens × columns], parameters have a shape of their own.
template <class T>
struct Node {
  std::string name;
  Index rows = 0;
  Index cols = 0;
  T* value = nullptr;
  T* grad = nullptr;
  bool trainable = true;  ///< a frozen parameter gets no gradient

  Index size() const { return rows * cols; }
  MatrixMap<T> Value() const { return MatrixMap<T>(value, rows, cols); }
  MatrixMap<T> Grad() const { return MatrixMap<T>(grad, rows, cols); }
};

/// A tape of layer-level ops, recorded once by the model's constructor (shapes are fixed for a run).
/// Recording is also the size table: `Allocate` takes all memory at once and a step takes none. Forward
/// overwrites values, Backward accumulates gradients. No views, no second derivatives.
template <class T>
class Tape {
 public:
  using Action = std::function<void()>;

  /// `operands` holds for the products of linear layers, the output layer and exact attention.
  explicit Tape(Operands operands = Operands::kFull) : operands_(operands) {}
  Operands operands() const { return operands_; }

  /// A new activation with value and gradient.
  Node<T>* Activation(const std::string& name, Index rows, Index cols);
  /// Working memory of an op; `*where` is valid after Allocate().
  void Scratch(T** where, Index count) { scratch_.Plan(where, count); }
  /// One op: what it is and must do (`kind`, forward and backward work), then its actions. `forward` writes
  /// its outputs' values, `backward` adds to its inputs' gradients. `prepare`, if any, runs before `forward`
  /// in Forward(prepare = true) only: calibration reads its inputs layer by layer there.
  void Record(const OpProfile& profile, Action forward, Action backward, Action prepare = nullptr);
  void Allocate();

  void Forward(bool prepare = false);
  /// Whether any op has a `prepare`: if not, a pass for its sake changes nothing.
  bool Prepares() const;
  /// Clears the activations' gradients and runs all backwards in reverse order.
  void Backward();

  /// The first activation in forward order with a value that is not finite, or nullptr.
  const Node<T>* FirstNonFinite() const;
  /// The ops in forward order with the time each has taken: two clock readings an op, too little to switch
  /// off.
  std::vector<OpProfile> Profile() const;
  void ClearTimes();
  std::size_t bytes() const { return values_.Bytes() + grads_.Bytes() + scratch_.Bytes(); }

 private:
  struct Operation {
    OpProfile profile;
    Action forward, backward, prepare;
  };
  Operands operands_;
  std::deque<Node<T>> nodes_;
  std::vector<Operation> operations_;
  Arena<T> values_, grads_, scratch_;
};

/// Whether all of `count` values are finite.
template <class T>
bool AllFinite(const T* values, Index count);

}  // namespace dark
