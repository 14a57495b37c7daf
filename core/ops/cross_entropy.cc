#include <algorithm>
#include <cmath>
#include <memory>

#include "core/ops.h"
#include "core/tensor/matmul.h"
#include "core/tensor/parallel.h"
#include "core/tensor/rows.h"

namespace dark {
namespace {

template <class T>
struct CrossEntropyOp {
  Node<T>*x, *w;
  T cap;
  LossPort<T>* port;
  Operands operands;
  Index block;           // tokens whose logits exist at a time
  T* logits = nullptr;   // [block × V]
  T* loss = nullptr;     // [N]
  T* correct = nullptr;  // [N] 0 or 1

  Index vocab() const { return w->rows; }
  /// The operands of a block's product with n columns, the last and shorter block's too.
  Operands OfBlock(Index n) const { return SplitIfLarge(operands, block, n); }

  void Forward() const {
    if (port->training) return;
    ForBlocks([&](Index begin, Index end) { Rows<false>(begin, end); });
  }

  // dx += dz·W,  dW += dzᵀ·x,  with the logits that the loss was taken from
  void Backward() const {
    const T beta = x->Beta();
    ForBlocks([&](Index begin, Index end) {
      Rows<true>(begin, end);
      ParallelGemm(Op::kNone, Op::kNone, end - begin, x->cols, vocab(), {logits, vocab()},
                   {w->value, w->cols}, beta, x->grad + begin * x->cols, x->cols, OfBlock(x->cols));
      if (!w->trainable) return;
      ParallelGemm(Op::kTranspose, Op::kNone, vocab(), x->cols, end - begin, {logits, vocab()},
                   {x->value + begin * x->cols, x->cols}, w->Beta(), w->grad, w->cols, operands);
    });
  }

 private:
  template <class Body>
  void ForBlocks(const Body& body) const {
    for (Index begin = 0; begin < x->rows; begin += block) body(begin, std::min(begin + block, x->rows));
    port->sums = {};
    for (Index n = 0; n < x->rows; ++n) {
      if (port->targets[n] < 0) continue;
      port->sums.loss += static_cast<double>(loss[n]);
      port->sums.correct += correct[n] > 0 ? 1 : 0;
      ++port->sums.tokens;
    }
  }

  // z = x·Wᵀ for rows [begin, end) and their losses; leaves dz in the logits' place if asked to.
  template <bool kGradient>
  void Rows(Index begin, Index end) const {
    ParallelGemm(Op::kNone, Op::kTranspose, end - begin, vocab(), x->cols,
                 {x->value + begin * x->cols, x->cols}, {w->value, w->cols}, T(0), logits, vocab(),
                 OfBlock(vocab()));
    ParallelFor(end - begin, [&](Index i) {
      T* z = logits + i * vocab();
      const std::int32_t target = port->targets[begin + i];
      if (target < 0) {
        std::fill_n(z, vocab(), T(0));
      } else {
        Row<kGradient>(begin + i, target, z);
      }
    });
  }

  // The loss of a token with logits z, which become, if asked to,
  //   dz = (softmax(z) − onehot) · scale · (1 − (z/c)²), the last factor only with a cap.
  // Each exponential is taken once: at first for the sum, and left in its logit's place.
  template <bool kGradient>
  void Row(Index n, std::int32_t target, T* z) const {
    if (cap > 0) Cap(z);
    const T max = RowMax(vocab(), z), wanted = z[target], flatness = cap > 0 ? 1 / (cap * cap) : T(0);
    // The first of equal maxima is the prediction.
    correct[n] = wanted == max && std::find(z, z + target, max) == z + target ? T(1) : T(0);
    const auto slope = [flatness](const auto& logit) { return T(1) - flatness * logit * logit; };
    RowSum<T> sum;
    ForLanes<T>(vocab(), [&](auto at) {
      const auto logit = at.Load(z), power = Exponential<T>(logit - max);
      sum.Add(power);
      if constexpr (kGradient) at.Store(z, power * slope(logit));
    });
    const T total = sum.Total();
    loss[n] = max + std::log(total) - wanted;
    if constexpr (!kGradient) return;
    ScaleRow(vocab(), port->scale / total, z, z);
    z[target] -= port->scale * slope(wanted);
  }

  void Cap(T* logits_of_token) const {
    Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>> z(logits_of_token, vocab());
    z = cap * (z / cap).tanh();
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
  op->operands = tape.operands();
  // A share of the last-level cache, and enough tokens for each pass over W and dW and to be worth splitting.
  constexpr Index kLogitsBudget = 1 << 21;
  op->block = std::min(x->rows, std::max<Index>(128, kLogitsBudget / weight->rows));
  tape.Scratch(&op->logits, op->block * weight->rows);
  for (T** where : {&op->loss, &op->correct}) tape.Scratch(where, x->rows);
  // One product a block; logits stay in the caches.
  const auto work = [&](Operands read_as) {
    const double flops = 2 * static_cast<double>(x->size()) * static_cast<double>(weight->rows);
    return ProductsWork(flops, StreamWork(1, x->size() + weight->size(), sizeof(T)).bytes, read_as);
  };
  tape.Record(
      {"cross_entropy", work(op->OfBlock(weight->rows)),
       work(op->OfBlock(x->cols)) + work(SplitIfLarge(op->operands, weight->rows, x->cols))},
      {x}, [op] { op->Forward(); }, [op] { op->Backward(); });
}
template void CrossEntropy(Tape<float>&, Node<float>*, Node<float>*, float, LossPort<float>*);
template void CrossEntropy(Tape<double>&, Node<double>*, Node<double>*, double, LossPort<double>*);

}  // namespace dark
