#include "core/attention/softmax.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/tensor/matmul.h"
#include "core/tensor/parallel.h"

namespace dark {
namespace {

template <class T>
using RowMap = Eigen::Map<Eigen::Array<T, 1, Eigen::Dynamic>>;

template <class T>
struct SoftmaxOp {
  HeadShape shape;
  Node<T>*q, *k, *v, *out;
  T* log_sum = nullptr;  // [batch × heads × context]
  T* scratch = nullptr;  // per thread: packed keys and values, scores and their gradients

  Index PackedKeys() const { return PackedSize<T>(shape.context, shape.dim); }
  Index PackedValues() const { return PackedSize<T>(shape.context, shape.value_dim); }
  Index ScratchSize() const { return PackedKeys() + PackedValues() + 2 * kSoftmaxRows * shape.context; }
  HeadView<T> Of(T* data, const Node<T>& node, Index b, Index h, Index dim) const {
    return Head(data, node.cols, shape.context, b, h, dim);
  }
  static HeadView<const T> Const(HeadView<T> view) { return {view.data, view.stride}; }
  T* LogSum(Index b, Index h) const { return log_sum + (b * shape.heads + h) * shape.context; }

  void Forward() const {
    ParallelFor(shape.batch * shape.heads, [&](Index unit) {
      const Index b = unit / shape.heads, h = unit % shape.heads;
      SoftmaxHead(shape.context, shape.dim, shape.value_dim, Const(Of(q->value, *q, b, h, shape.dim)),
                  Const(Of(k->value, *k, b, h / shape.queries_per_key(), shape.dim)),
                  Const(Of(v->value, *v, b, h * shape.value_heads / shape.heads, shape.value_dim)),
                  Of(out->value, *out, b, h, shape.value_dim), LogSum(b, h),
                  scratch + ThreadIndex() * ScratchSize());
    });
  }

  // Units are value heads, so that query heads that share keys or values add to them in a fixed order.
  void Backward() const {
    const Index group = shape.heads / shape.value_heads;
    ParallelFor(shape.batch * shape.value_heads, [&](Index unit) {
      const Index b = unit / shape.value_heads, g = unit % shape.value_heads;
      for (Index h = g * group; h < (g + 1) * group; ++h) BackwardHead(b, h, g);
    });
  }

  // With P = softmax(S) and D_t = dout_t·out_t:  dS = P∘(dout·vᵀ − D),  dq += dS·k,  dk += dSᵀ·q,  dv +=
  // Pᵀ·dout
  void BackwardHead(Index b, Index h, Index g) const {
    const Index kh = h / shape.queries_per_key(), dim = shape.dim, vd = shape.value_dim;
    const auto qv = Of(q->value, *q, b, h, dim), kv = Of(k->value, *k, b, kh, dim),
               vv = Of(v->value, *v, b, g, vd);
    const auto dq = Of(q->grad, *q, b, h, dim), dk = Of(k->grad, *k, b, kh, dim),
               dv = Of(v->grad, *v, b, g, vd);
    const auto ov = Of(out->value, *out, b, h, vd), dout = Of(out->grad, *out, b, h, vd);
    const PackedB<T> keys{scratch + ThreadIndex() * ScratchSize(), shape.context, dim};
    const PackedB<T> values{keys.data + PackedKeys(), shape.context, vd};
    Pack(Op::kTranspose, static_cast<const T*>(kv.data), kv.stride, keys);
    Pack(Op::kTranspose, static_cast<const T*>(vv.data), vv.stride, values);
    T* p = values.data + PackedValues();
    T* ds = p + kSoftmaxRows * shape.context;
    for (Index begin = 0; begin < shape.context; begin += kSoftmaxRows) {
      const Index end = std::min(begin + kSoftmaxRows, shape.context), n = end - begin;
      Gemm(Op::kNone, n, end, qv.row(begin), qv.stride, keys, T(0), p, end);
      Gemm(Op::kNone, n, end, dout.row(begin), dout.stride, values, T(0), ds, end);
      for (Index i = 0; i < n; ++i) {
        const Index t = begin + i;
        const T dot = RowMap<T>(dout.row(t), vd).matrix().dot(RowMap<T>(ov.row(t), vd).matrix());
        RowMap<T> p_row(p + i * end, end), ds_row(ds + i * end, end);
        p_row.head(t + 1) = (p_row.head(t + 1) - LogSum(b, h)[t]).exp();
        p_row.tail(end - t - 1).setZero();
        ds_row.head(t + 1) = p_row.head(t + 1) * (ds_row.head(t + 1) - dot);
        ds_row.tail(end - t - 1).setZero();
      }
      Gemm(Op::kNone, Op::kNone, n, dim, end, ds, end, kv.data, kv.stride, T(1), dq.row(begin), dq.stride);
      Gemm(Op::kTranspose, Op::kNone, end, dim, n, ds, end, qv.row(begin), qv.stride, T(1), dk.data,
           dk.stride);
      Gemm(Op::kTranspose, Op::kNone, end, vd, n, p, end, dout.row(begin), dout.stride, T(1), dv.data,
           dv.stride);
    }
  }
};

}  // namespace

template <class T>
Index SoftmaxScratch(Index rows, Index dim) {
  return PackedSize<T>(rows, dim) + kSoftmaxRows * rows;
}
template Index SoftmaxScratch<float>(Index, Index);
template Index SoftmaxScratch<double>(Index, Index);

template <class T>
void SoftmaxHead(Index rows, Index dim, Index value_dim, HeadView<const T> q, HeadView<const T> k,
                 HeadView<const T> v, HeadView<T> out, T* log_sum, T* scratch) {
  const PackedB<T> keys{scratch, rows, dim};
  Pack(Op::kTranspose, k.data, k.stride, keys);
  T* scores = scratch + PackedSize<T>(rows, dim);
  T inverse[kSoftmaxRows];
  for (Index begin = 0; begin < rows; begin += kSoftmaxRows) {
    const Index end = std::min(begin + kSoftmaxRows, rows), n = end - begin;
    Gemm(Op::kNone, n, end, q.row(begin), q.stride, keys, T(0), scores, end);
    for (Index i = 0; i < n; ++i) {
      RowMap<T> row(scores + i * end, end);
      const Index prefix = begin + i + 1;
      const T max = row.head(prefix).maxCoeff();
      row.head(prefix) = (row.head(prefix) - max).exp();
      const T sum = row.head(prefix).sum();
      row.tail(end - prefix).setZero();
      log_sum[begin + i] = max + std::log(sum);
      inverse[i] = T(1) / sum;
    }
    Gemm(Op::kNone, Op::kNone, n, value_dim, end, scores, end, v.data, v.stride, T(0), out.row(begin),
         out.stride);
    for (Index i = 0; i < n; ++i) RowMap<T>(out.row(begin + i), value_dim) *= inverse[i];
  }
}
template void SoftmaxHead(Index, Index, Index, HeadView<const float>, HeadView<const float>,
                          HeadView<const float>, HeadView<float>, float*, float*);
template void SoftmaxHead(Index, Index, Index, HeadView<const double>, HeadView<const double>,
                          HeadView<const double>, HeadView<double>, double*, double*);

template <class T>
Node<T>* SoftmaxAttention(Tape<T>& tape, const std::string& name, const HeadShape& shape, Node<T>* q,
                          Node<T>* k, Node<T>* v) {
  auto op = std::make_shared<SoftmaxOp<T>>();
  op->shape = shape;
  op->q = q;
  op->k = k;
  op->v = v;
  op->out = tape.Activation(name, shape.tokens(), shape.heads * shape.value_dim);
  tape.Scratch(&op->log_sum, shape.tokens() * shape.heads);
  tape.Scratch(&op->scratch, op->ScratchSize() * ThreadCount());
  // Causal: query t meets t + 1 keys.
  const double pairs = static_cast<double>(shape.batch * shape.heads) * static_cast<double>(shape.context) *
                       static_cast<double>(shape.context + 1) / 2;
  const Work work{2 * pairs * static_cast<double>(shape.dim + shape.value_dim),
                  StreamWork(1, q->size() + k->size() + v->size() + op->out->size(), sizeof(T)).bytes};
  tape.Record(
      {"softmax_attention", work, BackwardWork(work)}, [op] { op->Forward(); }, [op] { op->Backward(); });
  return op->out;
}
template Node<float>* SoftmaxAttention(Tape<float>&, const std::string&, const HeadShape&, Node<float>*,
                                       Node<float>*, Node<float>*);
template Node<double>* SoftmaxAttention(Tape<double>&, const std::string&, const HeadShape&, Node<double>*,
                                        Node<double>*, Node<double>*);

}  // namespace dark
