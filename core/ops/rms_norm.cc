#include <cmath>
#include <memory>

#include "core/ops.h"
#include "core/tape/destination.h"
#include "core/tensor/parallel.h"

namespace dark {
namespace {

constexpr Index kBlocks = 16;  // partial sums of the gain's gradient; fixed, so that the order of addition is

template <class T>
struct RmsNormOp {
  Node<T>*x, *w, *y;
  T eps;
  T offset;              // gain = offset + w
  T* inverse = nullptr;  // [groups] (mean(x²) + eps)^-1/2
  T* partial = nullptr;  // [kBlocks × w.size()]

  Index groups() const { return x->size() / w->size(); }
  MatrixMap<T> Grouped(T* data) const { return MatrixMap<T>(data, groups(), w->size()); }
  Index block() const { return (groups() + kBlocks - 1) / kBlocks; }

  auto Gain() const { return MatrixMap<T>(w->value, 1, w->size()).array() + offset; }

  void Forward() const {
    const auto in = Grouped(x->value);
    const Destination<T> out = Destination<T>::Value(*y);
    const auto gain = Gain();
    ParallelBlocks(groups(), block(), [&](Index begin, Index end, Index) {
      for (Index n = begin; n < end; ++n) {
        inverse[n] = T(1) / std::sqrt(in.row(n).squaredNorm() / static_cast<T>(w->size()) + eps);
        out.Write(n * w->size(), in.row(n).array() * inverse[n] * gain);
      }
    });
  }

  // With u = x·inverse:  dx = inverse · (dy∘g − u · mean(dy∘g∘u)),  dw = Σ_n dy∘u
  void Backward() const {
    const auto in = Grouped(x->value), dout = Grouped(y->grad);
    auto din = Grouped(x->grad);
    const Index width = w->size();
    const auto gain = Gain();
    const T beta = x->Beta();
    MatrixMap<T>(partial, kBlocks, width).setZero();
    ParallelBlocks(groups(), block(), [&](Index begin, Index end, Index b) {
      MatrixMap<T> sum(partial + b * width, 1, width);
      for (Index n = begin; n < end; ++n) {
        const auto u = in.row(n).array() * inverse[n];
        const auto scaled = dout.row(n).array() * gain;
        const T mean = (scaled * u).sum() / static_cast<T>(width);
        AddWithBeta(beta, din.row(n).array(), inverse[n] * (scaled - u * mean));
        sum.array() += dout.row(n).array() * u;
      }
    });
    if (!w->trainable) return;
    w->StartGradient();
    for (Index b = 0; b < kBlocks; ++b)
      MatrixMap<T>(w->grad, 1, width) += MatrixMap<T>(partial + b * width, 1, width);
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
