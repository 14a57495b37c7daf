#include "core/attention/softmax_head.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.h"
#include "core/tensor/arena.h"
#include "core/tensor/bf16.h"
#include "tests/core/largest.h"

namespace dark {
namespace {

using testing::Largest;

struct Shape {
  Index rows, dim, value_dim;
};

/// Rows of a head in a wider activation: what stands beside them is 7 and must stay.
template <class T>
struct Rows {
  static constexpr Index kBeside = 3;
  Index rows, dim;
  std::vector<T> data;

  Rows(Index count, Index width)
      : rows(count), dim(width), data(static_cast<std::size_t>(rows * stride()), T(7)) {
    ForEach([](T& value) { value = T(0); });
  }
  template <class Body>
  void ForEach(const Body& body) {
    for (Index t = 0; t < rows; ++t) std::for_each(view().row(t), view().row(t) + dim, body);
  }
  Index stride() const { return dim + kBeside; }
  HeadView<T> view() { return {data.data(), stride()}; }
  HeadView<const T> view() const { return {data.data(), stride()}; }
  bool IsUntouchedBeside() const {
    for (Index t = 0; t < rows; ++t) {
      for (Index j = dim; j < stride(); ++j)
        if (view().row(t)[j] != T(7)) return false;
    }
    return true;
  }
};

/// One head, from the same numbers in every type. With operands that are rounded the numbers are, too, so
/// that what a product does to P and dS alone is seen.
template <class T>
struct Head {
  Rows<T> q, k, v, out, dout, dq, dk, dv;
  std::vector<T> log_sum;

  Head(const Shape& s, double spread, bool rounded)
      : q(s.rows, s.dim),
        k(s.rows, s.dim),
        v(s.rows, s.value_dim),
        out(s.rows, s.value_dim),
        dout(s.rows, s.value_dim),
        dq(s.rows, s.dim),
        dk(s.rows, s.dim),
        dv(s.rows, s.value_dim),
        log_sum(static_cast<std::size_t>(s.rows)) {
    Stream stream(3, "softmax head");
    const double score_scale = std::sqrt(spread / std::sqrt(static_cast<double>(s.dim)));
    for (Rows<T>* x : {&q, &k, &v, &dout, &dq, &dk, &dv}) {
      const double scale = x == &q || x == &k ? score_scale : 1;
      x->ForEach([&](T& value) {
        const auto number = static_cast<float>(scale * stream.Normal());
        value = static_cast<T>(rounded ? RoundToBf16(number) : number);
      });
    }
  }

  /// What is to be written, and working memory, may hold anything before.
  void Run(Operands operands, const GradientBetas<T>& betas) {
    const SoftmaxShape<T> shape{q.rows, q.dim, v.dim, operands};
    T* scratch = nullptr;
    Arena<T> memory;
    memory.Plan(&scratch, shape.Scratch());
    memory.Allocate();
    const auto nan = [](T& value) { value = std::numeric_limits<T>::quiet_NaN(); };
    const auto clear = [&] { std::for_each(scratch, scratch + shape.Scratch(), nan); };
    out.ForEach(nan);
    std::for_each(log_sum.begin(), log_sum.end(), nan);
    if (betas.q == T(0)) dq.ForEach(nan);
    if (betas.k == T(0)) dk.ForEach(nan);
    if (betas.v == T(0)) dv.ForEach(nan);
    clear();
    SoftmaxForward<T>(shape, AsConst(q), AsConst(k), AsConst(v), out.view(), log_sum.data(), scratch);
    clear();
    SoftmaxBackward<T>(shape,
                       {AsConst(q), AsConst(k), AsConst(v), AsConst(out), AsConst(dout), log_sum.data(),
                        dq.view(), dk.view(), dv.view(), betas},
                       scratch);
  }
  static HeadView<const T> AsConst(const Rows<T>& x) { return x.view(); }
};

/// Largest error against the same in double, of the largest element or of 1, the size of the operands.
double Error(const Rows<float>& x, const Rows<double>& exact) {
  CHECK(x.IsUntouchedBeside());
  double error = 0, largest = 1;
  for (Index t = 0; t < x.rows; ++t) {
    for (Index j = 0; j < x.dim; ++j) {
      const double expected = exact.view().row(t)[j];
      error = Largest(error, std::abs(static_cast<double>(x.view().row(t)[j]) - expected));
      largest = Largest(largest, std::abs(expected));
    }
  }
  return error / largest;
}

/// Worst error of what the forward and the backward pass write.
double Error(const Head<float>& x, const Head<double>& exact) {
  double error = 0;
  for (std::size_t t = 0; t < x.log_sum.size(); ++t)
    error = Largest(error, std::abs(static_cast<double>(x.log_sum[t]) - exact.log_sum[t]) /
                               std::max(1.0, std::abs(exact.log_sum[t])));
  for (const auto of : {&Head<float>::out, &Head<float>::dq, &Head<float>::dk, &Head<float>::dv}) {
    const bool out = of == &Head<float>::out, dq = of == &Head<float>::dq, dk = of == &Head<float>::dk;
    error = Largest(error, Error(x.*of, out ? exact.out : dq ? exact.dq : dk ? exact.dk : exact.dv));
  }
  return error;
}

/// Around whole tiles, blocks of queries and blocks of keys, with heads of less and more than a tile.
const Shape kShapes[] = {{1, 8, 8},     {31, 64, 64},  {33, 16, 40},  {64, 80, 8},  {129, 33, 64},
                         {384, 64, 32}, {385, 32, 32}, {417, 64, 64}, {900, 48, 20}};

TEST_CASE("exact attention of a head is that in double, whatever the operands") {
  const GradientBetas<double> all_betas[] = {{0, 0, 0}, {1, 1, 1}, {1, 0, 1}, {0, 1, 0}};
  for (const Shape& s : kShapes) {
    for (const double spread : {1.0, 30.0}) {
      for (const GradientBetas<double>& betas : all_betas) {
        const auto error = [&](Operands operands) {
          const bool rounded = operands == Operands::kBf16;
          Head<double> exact(s, spread, rounded);
          exact.Run(Operands::kFull, betas);
          Head<float> head(s, spread, rounded);
          head.Run(operands,
                   {static_cast<float>(betas.q), static_cast<float>(betas.k), static_cast<float>(betas.v)});
          return Error(head, exact);
        };
        INFO(s.rows << " × " << s.dim << ", values of " << s.value_dim << ", scores of " << spread
                    << ", betas " << betas.q << betas.k << betas.v);
        // Scores of size s are known to s·2^-24, which is the relative error of their exponentials.
        CHECK(error(Operands::kFull) <= 6e-7 * (1 + spread));
        CHECK(error(Operands::kSplit) <= 6e-7 * (1 + spread));
        CHECK(error(Operands::kBf16) <= 0.01);
      }
    }
  }
}

TEST_CASE("what a head's query sees does not depend on later tokens, to the bit") {
  const Shape shape{530, 64, 64};
  for (const Operands operands : {Operands::kFull, Operands::kSplit, Operands::kBf16}) {
    for (const Index seen : {1, 40, 400}) {
      Head<float> all(shape, 1, false), changed(shape, 1, false);
      for (Rows<float>* x : {&changed.q, &changed.k, &changed.v}) {
        for (Index t = seen; t < shape.rows; ++t)
          for (Index j = 0; j < x->dim; ++j) x->view().row(t)[j] += 3;
      }
      for (Head<float>* head : {&all, &changed}) head->Run(operands, {0, 0, 0});
      for (Index t = 0; t < seen; ++t) {
        REQUIRE(std::equal(all.out.view().row(t), all.out.view().row(t) + 64, changed.out.view().row(t)));
        REQUIRE(all.log_sum[static_cast<std::size_t>(t)] == changed.log_sum[static_cast<std::size_t>(t)]);
      }
      CHECK(all.out.data != changed.out.data);
    }
  }
}

}  // namespace
}  // namespace dark
