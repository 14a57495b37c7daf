#include "core/attention/prefix_mean.h"

#include <memory>

#include "core/tensor/parallel.h"

namespace dark {
namespace {

template <class T>
struct PrefixMeanOp {
  HeadShape shape;
  Node<T>*v, *out;
  T* sums = nullptr;  // [batch × value_heads × value_dim] running sums

  using Vector = Eigen::Map<Eigen::Array<T, 1, Eigen::Dynamic>>;
  Index group() const { return shape.heads / shape.value_heads; }
  Vector Sum(Index unit) const { return Vector(sums + unit * shape.value_dim, shape.value_dim); }
  Vector Row(T* data, const Node<T>& node, Index b, Index t, Index h) const {
    return Vector(data + (b * shape.context + t) * node.cols + h * shape.value_dim, shape.value_dim);
  }

  void Forward() const {
    ParallelFor(shape.batch * shape.value_heads, [&](Index unit) {
      const Index b = unit / shape.value_heads, g = unit % shape.value_heads;
      Vector sum = Sum(unit);
      sum.setZero();
      for (Index t = 0; t < shape.context; ++t) {
        sum += Row(v->value, *v, b, t, g);
        for (Index h = g * group(); h < (g + 1) * group(); ++h)
          Row(out->value, *out, b, t, h) = sum / static_cast<T>(t + 1);
      }
    });
  }

  // dv_s = Σ_{t≥s} Σ_h dout_{t,h} / (t + 1)
  void Backward() const {
    v->StartGradient();
    ParallelFor(shape.batch * shape.value_heads, [&](Index unit) {
      const Index b = unit / shape.value_heads, g = unit % shape.value_heads;
      Vector sum = Sum(unit);
      sum.setZero();
      for (Index t = shape.context - 1; t >= 0; --t) {
        for (Index h = g * group(); h < (g + 1) * group(); ++h)
          sum += Row(out->grad, *out, b, t, h) / static_cast<T>(t + 1);
        Row(v->grad, *v, b, t, g) += sum;
      }
    });
  }
};

}  // namespace

template <class T>
Node<T>* PrefixMean(Tape<T>& tape, const std::string& name, const HeadShape& shape, Node<T>* v) {
  auto op = std::make_shared<PrefixMeanOp<T>>();
  op->shape = shape;
  op->v = v;
  op->out = tape.Activation(name, shape.tokens(), shape.heads * shape.value_dim);
  tape.Scratch(&op->sums, shape.batch * shape.value_heads * shape.value_dim);
  const Work work = StreamWork(1, v->size() + op->out->size(), sizeof(T));
  tape.Record(
      {"prefix_mean", work, work}, {v}, [op] { op->Forward(); }, [op] { op->Backward(); });
  return op->out;
}
template Node<float>* PrefixMean(Tape<float>&, const std::string&, const HeadShape&, Node<float>*);
template Node<double>* PrefixMean(Tape<double>&, const std::string&, const HeadShape&, Node<double>*);

}  // namespace dark
