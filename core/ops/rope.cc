#include <cmath>
#include <memory>

#include "core/ops.h"
#include "core/tensor/parallel.h"

namespace dark {
namespace {

template <class T>
struct RopeOp {
  Node<T>*x, *y;
  Index context, half;
  std::vector<T> cosine, sine;  // [context × half], scale included

  void FillTables(double base, double scale) {
    cosine.resize(static_cast<std::size_t>(context * half));
    sine.resize(cosine.size());
    for (Index j = 0; j < half; ++j) {
      const double frequency =
          base > 0 ? std::pow(base, -static_cast<double>(j) / static_cast<double>(half)) : 0;
      for (Index t = 0; t < context; ++t) {
        const double angle = static_cast<double>(t) * frequency;
        cosine[static_cast<std::size_t>(t * half + j)] = static_cast<T>(scale * std::cos(angle));
        sine[static_cast<std::size_t>(t * half + j)] = static_cast<T>(scale * std::sin(angle));
      }
    }
  }

  // `sign` +1 rotates from → to; -1 is the transposed rotation: the backward pass.
  template <bool kAdd>
  void Rotate(const T* from, T* to, T sign) const {
    ParallelBlocks(x->rows, 64, [&](Index begin, Index end, Index) {
      for (Index n = begin; n < end; ++n) {
        const T *c = cosine.data() + n % context * half, *s = sine.data() + n % context * half;
        const T* in = from + n * x->cols;
        T* out = to + n * x->cols;
        half == 8 ? RotateRow<kAdd, 8>(c, s, in, out, sign) : RotateRow<kAdd, 0>(c, s, in, out, sign);
      }
    });
  }

  // A head has few columns: without __restrict, asking whether its arrays overlap takes as long as to rotate
  // it, and unless the compiler knows how few (kHalf, 0 = any), 8 are taken one by one.
  template <bool kAdd, Index kHalf>
  void RotateRow(const T* __restrict c, const T* __restrict s, const T* from, T* to, T sign) const {
    const Index size = kHalf > 0 ? kHalf : half;
    for (Index column = 0; column < x->cols; column += 2 * size) {
      const T* __restrict low = from + column, * __restrict high = low + size;
      T* __restrict out_low = to + column, * __restrict out_high = out_low + size;
      for (Index j = 0; j < size; ++j) {
        const T first = low[j] * c[j] - sign * high[j] * s[j];
        const T second = high[j] * c[j] + sign * low[j] * s[j];
        out_low[j] = kAdd ? out_low[j] + first : first;
        out_high[j] = kAdd ? out_high[j] + second : second;
      }
    }
  }
};

}  // namespace

template <class T>
Node<T>* Rope(Tape<T>& tape, const std::string& name, Node<T>* x, Index context, Index head_dim, double base,
              T scale) {
  auto op = std::make_shared<RopeOp<T>>();
  op->x = x;
  op->y = tape.Activation(name, x->rows, x->cols);
  op->context = context;
  op->half = head_dim / 2;
  op->FillTables(base, static_cast<double>(scale));
  tape.Record(
      {"rope", StreamWork(2, x->size(), sizeof(T)), StreamWork(2, x->size(), sizeof(T))}, {x},
      [op] { op->template Rotate<false>(op->x->value, op->y->value, T(1)); },
      [op] {
        if (op->x->Beta() == T(0)) {
          op->template Rotate<false>(op->y->grad, op->x->grad, T(-1));
        } else {
          op->template Rotate<true>(op->y->grad, op->x->grad, T(-1));
        }
      });
  return op->y;
}
template Node<float>* Rope(Tape<float>&, const std::string&, Node<float>*, Index, Index, double, float);
template Node<double>* Rope(Tape<double>&, const std::string&, Node<double>*, Index, Index, double, double);

}  // namespace dark
