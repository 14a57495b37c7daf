#include <algorithm>
#include <cmath>
#include <memory>

#include "core/ops.h"
#include "core/tensor/matmul.h"
#include "core/tensor/parallel.h"

namespace dark {
namespace {

template <class T>
struct CrossEntropyOp {
  Node<T>*x, *w;
  T cap;
  LossPort<T>* port;
  Index block;           // tokens whose logits exist at a time
  T* logits = nullptr;   // [block × V]
  T* log_sum = nullptr;  // [N] logsumexp of each row
  T* loss = nullptr;     // [N]
  T* correct = nullptr;  // [N] 0 or 1

  Index vocab() const { return w->rows; }

  // z = capped x·Wᵀ for rows [begin, end)
  void Logits(Index begin, Index end) const {
    ParallelGemm(Op::kNone, Op::kTranspose, end - begin, vocab(), x->cols, T(1), x->value + begin * x->cols,
                 x->cols, w->value, w->cols, T(0), logits, vocab());
  }

  auto Row(Index n) const {
    return Eigen::Map<Eigen::Array<T, 1, Eigen::Dynamic>>(logits + n * vocab(), vocab());
  }

  void Forward() const {
    for (Index begin = 0; begin < x->rows; begin += block) {
      const Index end = std::min(begin + block, x->rows);
      Logits(begin, end);
      ParallelFor(end - begin, [&](Index i) { ForwardRow(begin + i, Row(i)); });
    }
    port->sums = {};
    for (Index n = 0; n < x->rows; ++n) {
      if (port->targets[n] < 0) continue;
      port->sums.loss += static_cast<double>(loss[n]);
      port->sums.correct += correct[n] > 0 ? 1 : 0;
      ++port->sums.tokens;
    }
  }

  template <class Z>
  void ForwardRow(Index n, Z z) const {
    if (cap > 0) z = cap * (z / cap).tanh();
    Index best = 0;
    const T max = z.maxCoeff(&best);
    log_sum[n] = max + std::log((z - max).exp().sum());
    const std::int32_t target = port->targets[n];
    if (target < 0) return;
    loss[n] = log_sum[n] - z[target];
    correct[n] = best == target ? T(1) : T(0);
  }

  // dz = (softmax(z) − onehot) · scale · (1 − (z/c)²);  dx += dz·W,  dW += dzᵀ·x
  void Backward() const {
    for (Index begin = 0; begin < x->rows; begin += block) {
      const Index end = std::min(begin + block, x->rows);
      Logits(begin, end);
      ParallelFor(end - begin, [&](Index i) { BackwardRow(begin + i, Row(i)); });
      ParallelGemm(Op::kNone, Op::kNone, end - begin, x->cols, vocab(), T(1), logits, vocab(), w->value,
                   w->cols, T(1), x->grad + begin * x->cols, x->cols);
      if (!w->trainable) continue;
      ParallelGemm(Op::kTranspose, Op::kNone, vocab(), x->cols, end - begin, T(1), logits, vocab(),
                   x->value + begin * x->cols, x->cols, T(1), w->grad, w->cols);
    }
  }

  template <class Z>
  void BackwardRow(Index n, Z z) const {
    const std::int32_t target = port->targets[n];
    if (target < 0) {
      z.setZero();
      return;
    }
    if (cap > 0) {
      z = (z / cap).tanh();
      const T at_target = T(1) - z[target] * z[target];
      z = (cap * z - log_sum[n]).exp() * port->scale * (T(1) - z.square());
      z[target] -= port->scale * at_target;
    } else {
      z = (z - log_sum[n]).exp() * port->scale;
      z[target] -= port->scale;
    }
  }
};

}  // namespace

template <class T>
void CrossEntropy(Tape<T>& tape, Node<T>* x, Node<T>* weight, T cap, LossPort<T>* port) {
  auto op = std::make_shared<CrossEntropyOp<T>>();
  op->x = x;
  op->w = weight;
  op->cap = cap;
  op->port = port;
  constexpr Index kLogitsBudget = 1 << 20;  // elements: fits the last-level cache
  op->block = std::min(x->rows, std::max<Index>(64, kLogitsBudget / weight->rows));
  tape.Scratch(&op->logits, op->block * weight->rows);
  for (T** where : {&op->log_sum, &op->loss, &op->correct}) tape.Scratch(where, x->rows);
  tape.Record([op] { op->Forward(); }, [op] { op->Backward(); });
}
template void CrossEntropy(Tape<float>&, Node<float>*, Node<float>*, float, LossPort<float>*);
template void CrossEntropy(Tape<double>&, Node<double>*, Node<double>*, double, LossPort<double>*);

}  // namespace dark
