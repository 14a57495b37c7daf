#include "core/attention/softmax.h"

#include <algorithm>
#include <memory>

#include "core/attention/softmax_head.h"
#include "core/tensor/parallel.h"

namespace dark {
namespace {

template <class T>
struct SoftmaxOp {
  HeadShape shape;
  Operands operands;
  Node<T>*q, *k, *v, *out;
  T* log_sum = nullptr;  // [batch × heads × context]
  T* scratch = nullptr;  // one head's working memory for each thread

  SoftmaxShape<T> OneHead() const { return {shape.context, shape.dim, shape.value_dim, operands}; }
  T* ThreadScratch() const { return scratch + ThreadIndex() * OneHead().Scratch(); }
  T* LogSum(Index b, Index h) const { return log_sum + (b * shape.heads + h) * shape.context; }
  template <class V>
  HeadView<V> Of(V* data, const Node<T>& node, Index b, Index h, Index dim) const {
    return Head(data, node.cols, shape.context, b, h, dim);
  }
  HeadView<const T> Value(const Node<T>& node, Index b, Index h, Index dim) const {
    return Of<const T>(node.value, node, b, h, dim);
  }

  void Forward() const {
    ParallelFor(shape.batch * shape.heads, [&](Index unit) {
      const Index b = unit / shape.heads, h = unit % shape.heads;
      SoftmaxForward(OneHead(), Value(*q, b, h, shape.dim), Value(*k, b, KeyHead(h), shape.dim),
                     Value(*v, b, h * shape.value_heads / shape.heads, shape.value_dim),
                     Of(out->value, *out, b, h, shape.value_dim), LogSum(b, h), ThreadScratch());
    });
  }

  // Units are value heads, so that query heads that share keys or values add to them in a fixed order.
  void Backward() const {
    const GradientBetas<T> betas{q->Beta(), k->Beta(), v->Beta()};
    const Index group = shape.heads / shape.value_heads;
    ParallelFor(shape.batch * shape.value_heads, [&](Index unit) {
      const Index b = unit / shape.value_heads, g = unit % shape.value_heads;
      for (Index h = g * group; h < (g + 1) * group; ++h) {
        // Of the heads that share keys or values, those after the first add to its gradients.
        BackwardHead(
            b, h, g,
            {betas.q, h % shape.queries_per_key() == 0 ? betas.k : T(1), h % group == 0 ? betas.v : T(1)});
      }
    });
  }

 private:
  Index KeyHead(Index h) const { return h / shape.queries_per_key(); }

  void BackwardHead(Index b, Index h, Index g, const GradientBetas<T>& betas) const {
    const Index kh = KeyHead(h), dim = shape.dim, vd = shape.value_dim;
    SoftmaxBackward<T>(
        OneHead(),
        {Value(*q, b, h, dim), Value(*k, b, kh, dim), Value(*v, b, g, vd), Value(*out, b, h, vd),
         Of<const T>(out->grad, *out, b, h, vd), LogSum(b, h), Of(q->grad, *q, b, h, dim),
         Of(k->grad, *k, b, kh, dim), Of(v->grad, *v, b, g, vd), betas},
        ThreadScratch());
  }
};

/// Products of wide heads are split; of narrow ones that would take longer than it saves.
Operands HeadOperands(const HeadShape& shape, Operands operands) {
  constexpr Index kWide = 64;
  const bool wide = std::min(shape.dim, shape.value_dim) >= kWide;
  return wide && operands == Operands::kFull ? Operands::kSplit : operands;
}

}  // namespace

template <class T>
Node<T>* SoftmaxAttention(Tape<T>& tape, const std::string& name, const HeadShape& shape, Node<T>* q,
                          Node<T>* k, Node<T>* v) {
  auto op = std::make_shared<SoftmaxOp<T>>();
  op->shape = shape;
  op->operands = HeadOperands(shape, tape.operands());
  op->q = q;
  op->k = k;
  op->v = v;
  op->out = tape.Activation(name, shape.tokens(), shape.heads * shape.value_dim);
  tape.Keep(&op->log_sum, shape.tokens() * shape.heads);
  tape.Scratch(&op->scratch, op->OneHead().Scratch() * ThreadCount());
  // Causal: query t meets t + 1 keys.
  const double pairs = static_cast<double>(shape.batch * shape.heads) * static_cast<double>(shape.context) *
                       static_cast<double>(shape.context + 1) / 2;
  const Work work = ProductsWork(
      2 * pairs * static_cast<double>(shape.dim + shape.value_dim),
      StreamWork(1, q->size() + k->size() + v->size() + op->out->size(), sizeof(T)).bytes, op->operands);
  tape.Record(
      {"softmax_attention", work, BackwardWork(work, op->operands)}, {q, k, v}, [op] { op->Forward(); },
      [op] { op->Backward(); });
  return op->out;
}
template Node<float>* SoftmaxAttention(Tape<float>&, const std::string&, const HeadShape&, Node<float>*,
                                       Node<float>*, Node<float>*);
template Node<double>* SoftmaxAttention(Tape<double>&, const std::string&, const HeadShape&, Node<double>*,
                                        Node<double>*, Node<double>*);

}  // namespace dark
