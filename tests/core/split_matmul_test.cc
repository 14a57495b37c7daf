#include <Eigen/Core>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.h"
#include "core/tensor/bf16_matmul.h"
#include "tests/core/largest.h"

namespace dark {
namespace {

using testing::Largest;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Doubles = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Normal numbers times 2^e, e uniform from −spread to spread.
Floats Random(Stream& stream, Index rows, Index cols, int spread) {
  Floats out(rows, cols);
  for (Index i = 0; i < out.size(); ++i) {
    const auto e = static_cast<int>(stream.Below(static_cast<std::uint64_t>(2 * spread + 1))) - spread;
    out.data()[i] = static_cast<float>(std::ldexp(stream.Normal(), e));
  }
  return out;
}

/// Errors against the product in double, in half an epsilon of Σ|a||b|: root of the mean square, and largest.
struct Errors {
  double mean = 0, largest = 0;
};
Errors ErrorsOf(const Floats& a, const Floats& b, Operands operands) {
  Floats c(a.rows(), b.cols());
  Gemm(Op::kNone, Op::kNone, a.rows(), b.cols(), a.cols(), {a.data(), a.cols()}, {b.data(), b.cols()}, 0.0F,
       c.data(), b.cols(), operands);
  const Doubles left = a.cast<double>(), right = b.cast<double>();
  const Doubles most = left.cwiseAbs() * right.cwiseAbs();
  const Doubles error = (c.cast<double>() - left * right).cwiseQuotient(most) /
                        (static_cast<double>(std::numeric_limits<float>::epsilon()) / 2);
  Errors out{std::sqrt(error.squaredNorm() / static_cast<double>(error.size())), 0};
  for (Index i = 0; i < error.size(); ++i) out.largest = Largest(out.largest, std::abs(error.data()[i]));
  return out;
}

TEST_CASE("products of split operands are as near to those in double as a chain of multiply-adds") {
  Stream stream(1, "split");
  for (const Index depth : {1, 3, 32, 64, 257, 1000, 4096}) {
    for (const int spread : {0, 8, 30}) {
      const Floats a = Random(stream, 64, depth, spread), b = Random(stream, depth, 64, spread);
      const Errors split = ErrorsOf(a, b, Operands::kSplit), full = ErrorsOf(a, b, Operands::kFull);
      INFO("depth " << depth << ", spread " << spread << ": mean " << split.mean << " and " << full.mean
                    << ", largest " << split.largest << " and " << full.largest);
      CHECK(split.mean <= 1.1 * full.mean);
      CHECK(split.largest <= 1.5 * full.largest);
    }
  }
}

TEST_CASE("a split loses no bit of a float: times a power of two it comes back") {
  Stream stream(2, "exact");
  const Floats x = Random(stream, 40, 70, 60);
  const Floats scaled_identity = Floats::Identity(70, 70) * 0.125F;
  Floats c(40, 70), transposed(70, 40);
  Gemm(Op::kNone, Op::kNone, 40, 70, 70, {x.data(), 70}, {scaled_identity.data(), 70}, 0.0F, c.data(), 70,
       Operands::kSplit);
  CHECK(c == x * 0.125F);
  Gemm(Op::kNone, Op::kTranspose, 70, 40, 70, {scaled_identity.data(), 70}, {x.data(), 70}, 0.0F,
       transposed.data(), 40, Operands::kSplit);
  CHECK(transposed == x.transpose() * 0.125F);
}

TEST_CASE("in split products what is not finite shows in the elements that meet it, and in no other") {
  for (const float bad : {kInfinity, -kInfinity, std::nanf(""), -std::nanf("")}) {
    for (const Index place : {0, 15, 31, 32, 69}) {
      Floats a = Floats::Ones(40, 70), b = Floats::Ones(70, 50), c(40, 50);
      a(3, place) = bad;
      b(place, 44) = bad;
      Gemm(Op::kNone, Op::kNone, 40, 50, 70, {a.data(), 70}, {b.data(), 50}, 0.0F, c.data(), 50,
           Operands::kSplit);
      bool right = true;
      for (Index i = 0; i < 40; ++i)
        for (Index j = 0; j < 50; ++j)
          right = right && (i == 3 || j == 44 ? !std::isfinite(c(i, j)) : c(i, j) == 70);
      CHECK(right);
    }
  }
}

TEST_CASE("terms too small for a bfloat16 are lost, and nothing else is") {
  const float smallest = std::numeric_limits<float>::min();
  const auto product = [](float a, float b) {
    float c = 0;
    Gemm(Op::kNone, Op::kNone, 1, 1, 1, {&a, 1}, {&b, 1}, 0.0F, &c, 1, Operands::kSplit);
    return c;
  };
  CHECK(product(std::ldexp(1.2345678F, -100), 1) == std::ldexp(1.2345678F, -100));
  for (const int exponent : {-105, -112, -120}) {  // terms two and three, or what there is of them
    const float x = std::ldexp(1.2345678F, exponent), error = std::abs(product(x, 1) - x);
    INFO(exponent);
    CHECK(error < smallest);
    CHECK((error > 0) == MayUseTiles());
  }
  CHECK(product(3.0e38F, 1) == 3.0e38F);
}

TEST_CASE("only a product is split whose elements meet many others") {
  CHECK(SplitIfLarge(Operands::kFull, 4096, 256) == Operands::kSplit);
  CHECK(SplitIfLarge(Operands::kFull, 64, 4096) == Operands::kFull);
  CHECK(SplitIfLarge(Operands::kBf16, 4096, 256) == Operands::kBf16);
  CHECK(Bf16Terms(Operands::kFull) == 0);
}

}  // namespace
}  // namespace dark
