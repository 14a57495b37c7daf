#include <algorithm>
#include <cmath>
#include <memory>

#include "core/ops.h"
#include "core/tape/destination.h"
#include "core/tensor/parallel.h"
#include "core/tensor/rows.h"

namespace dark {
namespace {

constexpr Index kBlocks = 16;  // partial sums of the gain's gradient; fixed, so that the order of addition is

template <class T>
struct RmsNormOp {
  using Row = Eigen::Map<Eigen::Array<T, 1, Eigen::Dynamic>>;

  Node<T>*x, *w, *y;
  T eps;
  T offset;              // gain = offset + w
  T* inverse = nullptr;  // [groups] (mean(x²) + eps)^-1/2
  T* partial = nullptr;  // [kBlocks × w.size()]

  Index groups() const { return x->size() / w->size(); }
  Index block() const { return (groups() + kBlocks - 1) / kBlocks; }

  void Forward() const {
    const Index width = w->size();
    const Destination<T> out = Destination<T>::Value(*y);
    const auto gain = Row(w->value, width) + offset;
    ParallelBlocks(groups(), block(), [&](Index begin, Index end, Index) {
      for (Index n = begin; n < end; ++n) {
        const Row in(x->value + n * width, width);
        inverse[n] = T(1) / std::sqrt(RowDot(width, in.data(), in.data()) / static_cast<T>(width) + eps);
        out.Write(n * width, in * inverse[n] * gain);
      }
    });
  }

  // With u = x·inverse:  dx = inverse · (dy∘g − u · mean(dy∘g∘u)),  dw = Σ_n dy∘u
  void Backward() const {
    const Index width = w->size();
    const T beta = x->Beta();
    std::fill_n(partial, kBlocks * width, T(0));
    ParallelBlocks(groups(), block(), [&](Index begin, Index end, Index b) {
      for (Index n = begin; n < end; ++n) {
        const Index row = n * width;
        BackwardRow(inverse[n], x->value + row, y->grad + row, beta, x->grad + row, partial + b * width);
      }
    });
    if (!w->trainable) return;
    w->StartGradient();
    for (Index b = 0; b < kBlocks; ++b) Row(w->grad, width) += Row(partial + b * width, width);
  }

  void BackwardRow(T inverse_of_row, const T* in, const T* dout, T beta, T* din, T* dw) const {
    const Index width = w->size();
    const T *const weight = w->value, shift = offset;
    RowSum<T> along;
    ForLanes<T>(width, [&](auto at) { along.Add(at.Load(dout) * (at.Load(weight) + shift) * at.Load(in)); });
    const T mean = inverse_of_row * along.Total() / static_cast<T>(width);
    ForLanes<T>(width, [&](auto at) {
      const auto dy = at.Load(dout), u = at.Load(in) * inverse_of_row;
      const auto dx = inverse_of_row * (dy * (at.Load(weight) + shift) - u * mean);
      at.Store(din, beta == T(0) ? dx : at.Load(din) + dx);
      at.Store(dw, at.Load(dw) + dy * u);
    });
  }
};

}  // namespace

template <class T>
Node<T>* RmsNorm(Tape<T>& tape, const std::string& name, Node<T>* x, Node<T>* weight, T eps, bool one_plus) {
  auto op = std::make_shared<RmsNormOp<T>>();
  op->x = x;
  op->w = weight;
  op->y = tape.Activation(name, x->rows, x->cols, MayRound::kValue);
  op->eps = eps;
  op->offset = one_plus ? T(1) : T(0);
  tape.Keep(&op->inverse, op->groups());
  tape.Scratch(&op->partial, kBlocks * weight->size());
  tape.Record(
      {"rms_norm", StreamWork(2, x->size(), sizeof(T)), StreamWork(3, x->size(), sizeof(T))}, {x},
      [op] { op->Forward(); }, [op] { op->Backward(); });
  return op->y;
}
template Node<float>* RmsNorm(Tape<float>&, const std::string&, Node<float>*, Node<float>*, float, bool);
template Node<double>* RmsNorm(Tape<double>&, const std::string&, Node<double>*, Node<double>*, double, bool);

}  // namespace dark
