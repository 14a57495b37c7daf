#include "core/tensor/matmul.h"

#include <Eigen/Core>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "core/random.h"
#include "core/tensor/bf16.h"
#include "core/tensor/bf16_matmul.h"
#include "core/tensor/parallel.h"

namespace dark {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T>
std::vector<T> Random(Stream& stream, Index count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = static_cast<T>(stream.Normal());
  return values;
}

template <class T>
Matrix Logical(const std::vector<T>& values, Index rows, Index cols, Index stride, bool transposed) {
  Matrix out(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      out(i, j) =
          static_cast<double>(values[static_cast<std::size_t>(transposed ? j * stride + i : i * stride + j)]);
  return out;
}

struct Shape {
  Index m, n, k;
};

/// Shapes around every border: register tile, row and column block, pass over k, few columns, and nothing.
std::vector<Shape> Shapes() {
  std::vector<Shape> shapes = {{1, 1, 1},     {6, 16, 8},    {7, 17, 3},     {5, 32, 64},    {64, 64, 64},
                               {121, 40, 5},  {130, 96, 33}, {3, 2100, 20},  {250, 112, 11}, {20, 24, 385},
                               {14, 97, 800}, {2, 3, 0},     {700, 75, 391}, {90, 1100, 400}};
  Stream stream(3, "shapes");
  for (int i = 0; i < 20; ++i)
    shapes.push_back({1 + static_cast<Index>(stream.Below(150)), 1 + static_cast<Index>(stream.Below(150)),
                      1 + static_cast<Index>(stream.Below(500))});
  return shapes;
}

template <class T>
void CompareWithDouble(Operands operands, double tolerance) {
  Stream stream(1, "matmul");
  for (const Shape& s : Shapes()) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        const Index lda = (ta ? s.m : s.k) + 3, ldb = (tb ? s.k : s.n) + 5, ldc = s.n + 2;
        const auto a = Random<T>(stream, (ta ? s.k : s.m) * lda + 1),
                   b = Random<T>(stream, (tb ? s.n : s.k) * ldb + 1);
        for (const T beta : {T(0), T(1), T(-0.5)}) {
          auto c = Random<T>(stream, s.m * ldc);
          if (beta == T(0)) c[0] = std::numeric_limits<T>::quiet_NaN();  // overwritten, not scaled
          const std::vector<T> before = c;
          Gemm(ta ? Op::kTranspose : Op::kNone, tb ? Op::kTranspose : Op::kNone, s.m, s.n, s.k,
               {a.data(), lda}, {b.data(), ldb}, beta, c.data(), ldc, operands);
          Matrix expected = Logical(a, s.m, s.k, lda, ta) * Logical(b, s.k, s.n, ldb, tb);
          if (beta != T(0)) expected += static_cast<double>(beta) * Logical(before, s.m, s.n, ldc, false);
          INFO(s.m << "x" << s.n << "x" << s.k << (ta ? " A'" : " A") << (tb ? " B'" : " B") << " beta "
                   << beta);
          REQUIRE((Logical(c, s.m, s.n, ldc, false) - expected).cwiseAbs().maxCoeff() <=
                  tolerance * std::sqrt(static_cast<double>(s.k + 1)));
          for (Index i = 0; i < s.m; ++i)  // what stands between the rows stays
            REQUIRE(std::memcmp(&c[static_cast<std::size_t>(i * ldc + s.n)],
                                &before[static_cast<std::size_t>(i * ldc + s.n)], 2 * sizeof(T)) == 0);
        }
      }
    }
  }
}

TEST_CASE("products equal those in double, at every border of the blocks") {
  CompareWithDouble<float>(Operands::kFull, 2e-5);
  CompareWithDouble<float>(Operands::kSplit, 2e-5);
  CompareWithDouble<double>(Operands::kFull, 2e-14);
  CompareWithDouble<double>(Operands::kSplit, 2e-14);
}

std::vector<float> Rounded(std::vector<float> values) {
  RoundToBf16(values.data(), static_cast<Index>(values.size()));
  return values;
}

void CheckCuts(const Shape& s, const std::vector<float>& a, const std::vector<float>& b,
               const std::vector<float>& before, Operands operands) {
  auto whole = before, parts = before, packed = before, part = before, of_team = before;
  const auto multiply = [&](Index row, Index rows, Index col, Index cols, Operands read_as,
                            std::vector<float>& c) {
    Gemm(Op::kTranspose, Op::kTranspose, rows, cols, s.k, {a.data() + row, s.m}, {b.data() + col * s.k, s.k},
         0.7f, c.data() + row * s.n + col, s.n, read_as);
  };
  multiply(0, s.m, 0, s.n, operands, whole);
  multiply(0, s.m, 0, s.n, SplitIfLarge(operands, s.m, s.n), of_team);
  for (Index row = 0; row < s.m; row += 7)
    for (Index col = 0; col < s.n; col += 13)
      multiply(row, std::min<Index>(7, s.m - row), col, std::min<Index>(13, s.n - col), operands, parts);
  CHECK(std::memcmp(whole.data(), parts.data(), whole.size() * sizeof(float)) == 0);
  std::vector<float> memory(static_cast<std::size_t>(PackedSize<float>(s.n, s.k)));
  const PackedB<float> right{memory.data(), s.n, s.k, operands};
  Pack(Op::kTranspose, {b.data(), s.k}, right);
  Gemm(Op::kTranspose, s.m, s.n, s.k, {a.data(), s.m}, right, 0.7f, packed.data(), s.n);
  CHECK(std::memcmp(whole.data(), packed.data(), whole.size() * sizeof(float)) == 0);
  const Index rows = s.k * 3 / 4, cols = s.n / 2;
  Gemm(Op::kTranspose, s.m, cols, rows, {a.data(), s.m}, right, 0.0f, part.data(), s.n);
  CHECK((Logical(part, s.m, cols, s.n, false) -
         Logical(a, s.m, rows, s.m, true) * Logical(b, rows, cols, s.k, true))
            .cwiseAbs()
            .maxCoeff() < 1e-3);
  for (const int threads : {1, 2, 5}) {
    omp_set_num_threads(threads);
    auto team = before;
    ParallelGemm(Op::kTranspose, Op::kTranspose, s.m, s.n, s.k, {a.data(), s.m}, {b.data(), s.k}, 0.7f,
                 team.data(), s.n, operands);
    CHECK(std::memcmp(of_team.data(), team.data(), team.size() * sizeof(float)) == 0);
  }
  omp_set_num_threads(2);
}

TEST_CASE("how a product is cut does not change a bit of it") {
  Stream stream(2, "cuts");
  for (const Shape& s :
       {Shape{300, 70, 900}, Shape{64, 64, 64}, Shape{33, 400, 130}, Shape{600, 1300, 1100}}) {
    const auto a = Random<float>(stream, s.m * s.k), b = Random<float>(stream, s.n * s.k);
    const auto before = Random<float>(stream, s.m * s.n);
    CheckCuts(s, a, b, before, Operands::kFull);
    CheckCuts(s, a, b, before, Operands::kSplit);
    CheckCuts(s, Rounded(a), Rounded(b), before, Operands::kBf16);
  }
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// The same as it stands in memory of bfloat16.
std::vector<Bf16> Stored(const std::vector<float>& values) {
  std::vector<Bf16> stored(values.size());
  RoundToBf16(values.data(), static_cast<Index>(values.size()), stored.data());
  return stored;
}

/// C of one thread, of the team and with B packed: `a` and `b` read as `operands` says.
std::vector<std::vector<float>> AllWays(const Shape& s, Op op_a, Op op_b, const OperandView<float>& a,
                                        const OperandView<float>& b, std::vector<float> c,
                                        Operands operands) {
  auto alone = c, team = c;
  operands = SplitIfLarge(operands, s.m, s.n);  // as the team does
  Gemm(op_a, op_b, s.m, s.n, s.k, a, b, 0.7f, alone.data(), s.n, operands);
  ParallelGemm(op_a, op_b, s.m, s.n, s.k, a, b, 0.7f, team.data(), s.n, operands);
  if (s.k == 0) return {alone, team};
  std::vector<float> memory(static_cast<std::size_t>(PackedSize<float>(s.n, s.k)));
  const PackedB<float> right{memory.data(), s.n, s.k, operands};
  Pack(op_b, b, right);
  Gemm(op_a, s.m, s.n, s.k, a, right, 0.7f, c.data(), s.n);
  return {alone, team, c};
}

/// Largest difference between C and A·B + 0.7·before in double, in units of what rounding may do: half an
/// epsilon of Σ|a||b| + 0.7·|before| for each product and a few more sums.
double ErrorInRoundings(const Shape& s, const Matrix& a, const Matrix& b, const std::vector<float>& before,
                        const std::vector<float>& c) {
  const double beta = static_cast<double>(0.7F);
  const Matrix was = beta * Logical(before, s.m, s.n, s.n, false);
  const Matrix most = a.cwiseAbs() * b.cwiseAbs() + was.cwiseAbs();
  const Matrix error = (Logical(c, s.m, s.n, s.n, false) - (a * b + was)).cwiseAbs();
  const double roundings = static_cast<double>(s.k + 4);
  return (error.array() / (most.array() * roundings * std::numeric_limits<float>::epsilon() / 2)).maxCoeff();
}

TEST_CASE("products in bf16 are, to the bit, those of operands rounded beforehand") {
  Stream stream(4, "bf16 products");
  for (const Shape& s : Shapes()) {
    for (const Op op_a : {Op::kNone, Op::kTranspose}) {
      for (const Op op_b : {Op::kNone, Op::kTranspose}) {
        const bool ta = op_a == Op::kTranspose, tb = op_b == Op::kTranspose;
        // Without room between B's rows too: there B may be read where it stands.
        const Index lda = (ta ? s.m : s.k) + 3, ldb = tb ? s.k : s.n;
        const auto a = Random<float>(stream, (ta ? s.k : s.m) * lda + 1),
                   b = Random<float>(stream, (tb ? s.n : s.k) * ldb + 1),
                   c = Random<float>(stream, s.m * s.n);
        const auto rounded_a = Rounded(a), rounded_b = Rounded(b);
        const OperandView<float> from_a{a.data(), lda}, from_b{b.data(), ldb},
            from_rounded_a{rounded_a.data(), lda}, from_rounded_b{rounded_b.data(), ldb};
        const auto ways = [&](const OperandView<float>& left, const OperandView<float>& right,
                              Operands operands) { return AllWays(s, op_a, op_b, left, right, c, operands); };
        const auto got = ways(from_a, from_b, Operands::kBf16), full = ways(from_a, from_b, Operands::kFull),
                   expected = ways(from_rounded_a, from_rounded_b, Operands::kBf16),
                   in_fp32 = ways(from_rounded_a, from_rounded_b, Operands::kFull);
        INFO(s.m << "x" << s.n << "x" << s.k << (ta ? " A'" : " A") << (tb ? " B'" : " B"));
        for (std::size_t i = 0; i < got.size(); ++i) {
          REQUIRE(SameBits(got[i], expected[0]));
          REQUIRE(SameBits(expected[i], expected[0]));
          REQUIRE(SameBits(in_fp32[i], in_fp32[0]));
          // Without instructions the chains are those of fp32; with them they add in another order.
          if (!kBf16Instructions) REQUIRE(SameBits(expected[i], in_fp32[i]));
          if (s.k > 0) REQUIRE_FALSE(SameBits(got[i], full[i]));
        }
        if (kBf16Instructions) {
          const auto stored_a = Stored(a), stored_b = Stored(b);
          const OperandView<float> left{nullptr, lda, stored_a.data()}, right{nullptr, ldb, stored_b.data()};
          for (const auto& c_way : ways(left, right, Operands::kBf16)) REQUIRE(SameBits(c_way, expected[0]));
          REQUIRE(SameBits(ways(from_a, right, Operands::kBf16)[0], expected[0]));
        }
        REQUIRE(ErrorInRoundings(s, Logical(rounded_a, s.m, s.k, lda, ta),
                                 Logical(rounded_b, s.k, s.n, ldb, tb), c, got[0]) <= 1);
      }
    }
  }
}

}  // namespace
}  // namespace dark
