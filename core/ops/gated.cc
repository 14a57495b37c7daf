#include <cmath>
#include <numbers>

#include "core/ops.h"
#include "core/tape/destination.h"
#include "core/tensor/parallel.h"

namespace dark {
namespace {

template <class T>
using Row = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;

// GELU in its tanh form, x·σ(2u) with u = √(2/π)(x + 0.044715x³); SiLU is x·σ(x). Both are x·σ(s(x)) with
// s(x) = linear·x + cubic·x³.
template <class T>
struct Argument {
  T linear, cubic;
  explicit Argument(Gate act) {
    const T a = static_cast<T>(2 * std::numbers::inv_sqrtpi * std::numbers::sqrt2);
    linear = act == Gate::kGelu ? a : T(1);
    cubic = act == Gate::kGelu ? a * T(0.044715) : T(0);
  }
};

template <class T>
void GatedForward(const Node<T>& gate, const Node<T>& up, Gate act, const Node<T>& y) {
  ParallelBlocks(y.size(), 4096, [&](Index begin, Index end, Index) {
    const Row<T> x(gate.value + begin, end - begin), u(up.value + begin, end - begin);
    const auto [linear, cubic] = Argument<T>(act);
    Destination<T>::Value(y).Write(begin, x * u / (T(1) + (-(x * (linear + cubic * x.square()))).exp()));
  });
}

/// AddWithBeta for elements of a node's gradient, which is rounded only if nothing is there to add to.
template <class T, class Values>
void AddTo(const Node<T>& node, T beta, Index begin, const Values& values) {
  if (beta == T(0)) return Destination<T>::Gradient(node).Write(begin, values);
  Row<T>(node.grad + begin, values.size()) += values;
}

// With p = σ(s):  d/dx (x·p) = p + x·p·(1 − p)·s'(x)
template <class T>
void GatedBackward(Node<T>& gate, Node<T>& up, Gate act, const Node<T>& y) {
  const T up_beta = up.Beta(), gate_beta = gate.Beta();
  ParallelBlocks(y.size(), 4096, [&](Index begin, Index end, Index) {
    const auto [linear, cubic] = Argument<T>(act);
    for (Index i = begin; i < end; i += 64) {  // p stays in registers and cache, not in memory of its own
      const Index len = std::min<Index>(64, end - i);
      const Row<T> x(gate.value + i, len), u(up.value + i, len), dy(y.grad + i, len);
      Eigen::Array<T, Eigen::Dynamic, 1, 0, 64, 1> p(len);
      p = T(1) / (T(1) + (-(x * (linear + cubic * x.square()))).exp());
      AddTo(up, up_beta, i, dy * x * p);
      AddTo(gate, gate_beta, i, dy * u * (p + x * p * (T(1) - p) * (linear + T(3) * cubic * x.square())));
    }
  });
}

}  // namespace

template <class T>
Node<T>* Gated(Tape<T>& tape, const std::string& name, Node<T>* gate, Node<T>* up, Gate act) {
  Node<T>* y = tape.Activation(name, gate->rows, gate->cols, MayRound::kValue);
  const Index size = y->size();
  tape.Record(
      {"gated", StreamWork(3, size, sizeof(T)), StreamWork(5, size, sizeof(T))},
      {{gate, MayRound::kGradient}, {up, MayRound::kGradient}}, [=] { GatedForward(*gate, *up, act, *y); },
      [=] { GatedBackward(*gate, *up, act, *y); });
  return y;
}
template Node<float>* Gated(Tape<float>&, const std::string&, Node<float>*, Node<float>*, Gate);
template Node<double>* Gated(Tape<double>&, const std::string&, Node<double>*, Node<double>*, Gate);

}  // namespace dark
