#include <Eigen/Core>
#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "core/random.h"
#include "core/tensor/matmul.h"
#include "core/tensor/round_up.h"
#include "core/tensor/simd.h"

namespace dark {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T>
Matrix<T> Random(Stream& stream, Index rows, Index cols) {
  Matrix<T> out(rows, cols);
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = static_cast<T>(stream.Normal());
  return out;
}

/// Queries × keys, as one block of causal attention: query i sees keys up to i + offset.
struct Pairs {
  Index queries, keys, offset, depth;
  bool Seen(Index i, Index j) const { return j <= i + offset; }
};

std::vector<Pairs> Shapes() {
  std::vector<Pairs> shapes = {
      {64, 64, 0, 64}, {64, 128, 64, 16}, {1, 1, 0, 1}, {500, 500, 0, 9}, {5, 900, 600, 33}};
  Stream stream(4, "pairs");
  for (int i = 0; i < 30; ++i)
    shapes.push_back({1 + static_cast<Index>(stream.Below(400)), 1 + static_cast<Index>(stream.Below(900)),
                      static_cast<Index>(stream.Below(200)), 1 + static_cast<Index>(stream.Below(70))});
  return shapes;
}

template <class T>
struct Checked {
  Operands operands;
  Stream stream{5, "causal"};

  /// The same product, with and without B packed, as a product that leaves pairs out.
  template <class Compare>
  void Products(Op op_a, const Matrix<T>& a, const Matrix<T>& b, Causal causal, const Compare& compare) {
    const Index m = op_a == Op::kTranspose ? a.cols() : a.rows(), k = b.rows(), n = b.cols();
    std::vector<T> memory(static_cast<std::size_t>(PackedSize<T>(n, k)));
    const PackedB<T> packed{memory.data(), n, k, operands};
    Pack(Op::kNone, {b.data(), n}, packed);
    for (const T beta : {T(0), T(1), T(-0.5)}) {
      const Matrix<T> before = Random<T>(stream, m, n);
      Matrix<T> all = before, some = before, some_packed = before;
      Gemm(op_a, Op::kNone, m, n, k, {a.data(), a.cols()}, {b.data(), n}, beta, all.data(), n, operands);
      Gemm(op_a, Op::kNone, m, n, k, {a.data(), a.cols()}, {b.data(), n}, beta, some.data(), n, operands,
           causal);
      Gemm(op_a, m, n, k, {a.data(), a.cols()}, packed, beta, some_packed.data(), n, causal);
      compare(all, some);
      compare(all, some_packed);
    }
  }

  void Run(const Pairs& x) {
    INFO(x.queries << " queries, " << x.keys << " keys, offset " << x.offset << ", depth " << x.depth);
    const Causal result{Causal::Of::kResult, x.offset}, left{Causal::Of::kLeft, x.offset};
    Products(Op::kNone, Random<T>(stream, x.queries, x.depth), Random<T>(stream, x.depth, x.keys), result,
             [&](const Matrix<T>& all, const Matrix<T>& some) {
               bool same = true;
               for (Index i = 0; i < x.queries; ++i)
                 for (Index j = 0; j < x.keys; ++j) same = same && (!x.Seen(i, j) || all(i, j) == some(i, j));
               REQUIRE(same);
             });
    Matrix<T> pairs = Random<T>(stream, x.queries, x.keys);
    for (Index i = 0; i < x.queries; ++i)
      for (Index j = 0; j < x.keys; ++j) pairs(i, j) *= static_cast<T>(x.Seen(i, j));
    const auto equal = [](const Matrix<T>& all, const Matrix<T>& some) { REQUIRE(all == some); };
    Products(Op::kNone, pairs, Random<T>(stream, x.keys, x.depth), left, equal);
    Products(Op::kTranspose, pairs, Random<T>(stream, x.queries, x.depth), left, equal);
  }
};

}  // namespace

TEST_CASE("products that leave out pairs ahead equal those of all pairs, to the bit, where a pair is seen") {
  Checked<float> single{Operands::kFull}, split{Operands::kSplit}, bf16{Operands::kBf16};
  Checked<double> full{Operands::kFull};
  for (const Pairs& x : Shapes()) {
    single.Run(x);
    split.Run(x);
    bf16.Run(x);
    full.Run(x);
  }
}

TEST_CASE("pairs ahead are left out: most of them are neither read nor computed") {
  const Index n = 256, depth = 64;
  Stream stream(6, "left out");
  const Matrix<float> a = Random<float>(stream, n, depth), b = Random<float>(stream, depth, n);
  const float kNone = std::numeric_limits<float>::quiet_NaN();
  const Operands operands = GENERATE(Operands::kFull, Operands::kSplit, Operands::kBf16);
  Matrix<float> c = Matrix<float>::Constant(n, n, kNone);
  Gemm(Op::kNone, Op::kNone, n, n, depth, {a.data(), depth}, {b.data(), n}, 0.0f, c.data(), n, operands,
       {Causal::Of::kResult});
  CHECK(c.array().isNaN().count() > n * n / 3);
  for (Index i = 0; i < n; ++i) {
    const Index computed = (c.row(i).array() == c.row(i).array()).count();
    CHECK(computed >=
          std::min(n, RoundUp(i + 1, kLanes<float>)));  // whole registers, on which attention counts
    c.row(i).tail(n - computed).setConstant(kNone);
    c.row(i).segment(i + 1, computed - i - 1).setZero();
  }
  Matrix<float> out = Matrix<float>::Zero(n, depth);
  for (const Op op : {Op::kNone, Op::kTranspose}) {
    Gemm(op, Op::kTranspose, n, depth, n, {c.data(), n}, {b.data(), n}, 0.0f, out.data(), depth, operands,
         {Causal::Of::kLeft});
    CHECK(out.allFinite());
  }
}

}  // namespace dark
