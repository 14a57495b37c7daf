#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/tape/work.h"
#include "core/tensor/arena.h"
#include "core/tensor/matmul.h"
#include "core/tensor/parallel.h"

namespace dark {

template <class T>
using MatrixMap = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// What of a node an op leaves the tape free to keep as bfloat16: a value or gradient that the op reads as an
/// operand of products and nothing else, or that it writes through a Destination (core/tape/destination.h).
/// Products in bf16 round what they read, so this saves memory and changes no bit.
enum class MayRound { kNothing, kValue, kGradient };

/// A matrix on the tape: activations are [B·T tokens × columns], parameters have a shape of their own.
template <class T>
struct Node {
  std::string name;
  Index rows = 0;
  Index cols = 0;
  T* value = nullptr;
  T* grad = nullptr;
  MayRound rounded = MayRound::kNothing;  ///< what is kept as bfloat16, in memory of its own:
  Bf16 *rounded_value = nullptr, *rounded_grad = nullptr;
  bool trainable = true;  ///< a frozen parameter gets no gradient
  bool fresh = false;     ///< nothing has been added to the gradient yet: its memory holds something else

  Index size() const { return rows * cols; }
  MatrixMap<T> Value() const { return MatrixMap<T>(value, rows, cols); }
  MatrixMap<T> Grad() const { return MatrixMap<T>(grad, rows, cols); }
  OperandView<T> ValueOperand() const { return {value, cols, rounded_value}; }
  OperandView<T> GradOperand() const { return {grad, cols, rounded_grad}; }

  /// For an op that is about to add to the gradient, all of it and once: 0 if it must write instead, else 1.
  T Beta() { return std::exchange(fresh, false) ? T(0) : T(1); }
  /// For an op that adds in many places.
  void StartGradient() {
    if (!std::exchange(fresh, false)) return;
    ParallelBlocks(size(), 16384, [this](Index begin, Index end, Index) {
      if (rounded_grad != nullptr) return std::fill(rounded_grad + begin, rounded_grad + end, Bf16{0});
      std::fill(grad + begin, grad + end, T(0));
    });
  }
};

/// to = beta·to + values for the beta of Node::Beta; 0 reads nothing of `to`.
template <class T, class To, class Values>
void AddWithBeta(T beta, To&& to, const Values& values) {
  if (beta == T(0)) {
    to = values;
  } else {
    to += values;
  }
}

/// A node that an op reads or makes.
template <class T>
struct NodeUse {
  Node<T>* node;
  MayRound may_round;
  NodeUse(Node<T>* used, MayRound allowed = MayRound::kNothing) : node(used), may_round(allowed) {}
};

/// A tape of layer-level ops, recorded once by the model's constructor (shapes are fixed for a run).
/// Recording is also the size table: `Allocate` takes all memory at once and a step takes none. Forward
/// overwrites values, Backward accumulates gradients. A gradient has memory only from the first op that adds
/// to it to the op that made the node, so the memory of all of them is that of a layer. No views, no second
/// derivatives.
template <class T>
class Tape {
 public:
  using Action = std::function<void()>;

  /// `operands` holds for all products but those that features are exponentials of: their logits, and M's.
  explicit Tape(Operands operands = Operands::kFull) : operands_(operands) {}
  Operands operands() const { return operands_; }

  /// A new activation with value and gradient.
  Node<T>* Activation(const std::string& name, Index rows, Index cols,
                      MayRound may_round = MayRound::kNothing);
  /// Memory of an op that lasts, as from its forward to its backward; `*where` is valid after Allocate().
  void Keep(T** where, Index count) { kept_.Plan(where, count); }
  /// Memory of one action of an op. All ops share it, so that it stays in the caches: an action finds there
  /// what another has left.
  void Scratch(T** where, Index count) {
    scratch_.PlanAt(where, scratch_used_, count);
    scratch_used_ += Arena<T>::Rounded(count);
  }
  /// One op: what it is and must do (`kind`, forward and backward work), then its actions. `forward` writes
  /// its outputs' values, `backward` adds to the gradients of `inputs` (nullptr: none) and of the trainable
  /// parameters it uses, each after a call of Beta or StartGradient. The op's outputs are the activations
  /// made since the last op. `prepare`, if any, runs before `forward` in Forward(prepare = true) only:
  /// calibration reads its inputs layer by layer there.
  void Record(const OpProfile& profile, std::vector<NodeUse<T>> inputs, Action forward, Action backward,
              Action prepare = nullptr);
  void Allocate();

  void Forward(bool prepare = false);
  /// Whether any op has a `prepare`: if not, a pass for its sake changes nothing.
  bool Prepares() const;
  /// Runs all backwards in reverse order. Activations' gradients hold nothing of use afterwards.
  void Backward();

  /// The first activation in forward order with a value that is not finite, or nullptr.
  const Node<T>* FirstNonFinite() const;
  /// The ops in forward order with the time each has taken: two clock readings an op, too little to switch
  /// off.
  std::vector<OpProfile> Profile() const;
  void ClearTimes();
  /// Memory of activations and working memory, after Allocate().
  std::size_t bytes() const { return values_.Bytes() + grads_.Bytes() + kept_.Bytes() + scratch_.Bytes(); }

 private:
  struct Operation {
    OpProfile profile;
    Action forward, backward, prepare;
    std::vector<NodeUse<T>> inputs, outputs;
    std::vector<Node<T>*> reached;  ///< inputs to whose gradients no later op adds
  };
  void PlanRounding();
  static void CountRounded(Operation& operation);
  void PlanGradients();
  Operands operands_;
  std::deque<Node<T>> nodes_;
  std::vector<NodeUse<T>> outputs_;  // of the op that is recorded next
  std::vector<Operation> operations_;
  Index scratch_used_ = 0;  // by the op that is recorded next
  Arena<T> values_, grads_, kept_, scratch_;
};

/// Whether all of `count` values are finite.
template <class T>
bool AllFinite(const T* values, Index count);

}  // namespace dark
