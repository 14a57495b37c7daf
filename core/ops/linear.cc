#include <algorithm>

#include "core/ops.h"
#include "core/tensor/matmul.h"
#include "core/tensor/parallel.h"

namespace dark {
namespace {

constexpr Index kBlock = 16384;  // elements of the residual stream that are one task

template <class T>
void LinearForward(const Node<T>& x, const Node<T>& w, const Node<T>* residual, const Node<T>& y,
                   Operands operands) {
  if (residual != nullptr) {
    ParallelBlocks(y.size(), kBlock, [&](Index begin, Index end, Index) {
      std::copy(residual->value + begin, residual->value + end, y.value + begin);
    });
  }
  ParallelGemm(Op::kNone, Op::kTranspose, x.rows, w.rows, x.cols, x.ValueOperand(), w.ValueOperand(),
               T(residual != nullptr ? 1 : 0), y.value, y.cols, operands);
}

// dx += dy·W,  dW += dyᵀ·x,  dresidual += dy
template <class T>
void LinearBackward(Node<T>& x, Node<T>& w, Node<T>* residual, const Node<T>& y, Operands operands) {
  ParallelGemm(Op::kNone, Op::kNone, x.rows, x.cols, w.rows, y.GradOperand(), w.ValueOperand(), x.Beta(),
               x.grad, x.cols, operands);
  if (w.trainable) {
    ParallelGemm(Op::kTranspose, Op::kNone, w.rows, w.cols, x.rows, y.GradOperand(), x.ValueOperand(),
                 w.Beta(), w.grad, w.cols, operands);
  }
  if (residual == nullptr) return;
  const T beta = residual->Beta();
  ParallelBlocks(y.size(), kBlock, [&](Index begin, Index end, Index) {
    using Part = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
    AddWithBeta(beta, Part(residual->grad + begin, end - begin), Part(y.grad + begin, end - begin));
  });
}

}  // namespace

template <class T>
Node<T>* Linear(Tape<T>& tape, const std::string& name, Node<T>* x, Node<T>* weight, Node<T>* residual) {
  // With a residual, dy is more than an operand.
  const MayRound gradient = residual == nullptr ? MayRound::kGradient : MayRound::kNothing;
  Node<T>* y = tape.Activation(name, x->rows, weight->rows, gradient);
  const Operands operands = tape.operands();
  const Index rows = x->rows, in = x->cols, out = weight->rows;
  Work work = ParallelWork(rows, out, in, sizeof(T), operands);
  Work backward =
      ParallelWork(rows, in, out, sizeof(T), operands) + ParallelWork(out, in, rows, sizeof(T), operands);
  if (residual != nullptr) {
    work += StreamWork(1, y->size(), sizeof(T));
    backward += StreamWork(2, y->size(), sizeof(T));
  }
  tape.Record(
      {"linear", work, backward}, {{x, MayRound::kValue}, residual},
      [=] { LinearForward(*x, *weight, residual, *y, operands); },
      [=] { LinearBackward(*x, *weight, residual, *y, operands); });
  return y;
}
template Node<float>* Linear(Tape<float>&, const std::string&, Node<float>*, Node<float>*, Node<float>*);
template Node<double>* Linear(Tape<double>&, const std::string&, Node<double>*, Node<double>*, Node<double>*);

}  // namespace dark
