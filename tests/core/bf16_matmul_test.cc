#include "core/tensor/bf16_matmul.h"

#include <Eigen/Core>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/random.h"
#include "core/tensor/bf16.h"
#include "core/tensor/bf16_kernel.h"
#include "core/tensor/bf16_pack.h"
#include "core/tensor/tile_kernel.h"

namespace dark {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

TEST_CASE("in bf16 and split, what stands beside a product's operands does not reach it") {
  const Operands operands = GENERATE(Operands::kBf16, Operands::kSplit);
  constexpr Index kM = 5, kN = 9, kLd = 70;
  for (const Index k : {1, 5, 31, 32, 33, 64}) {
    for (const float outside : {kInfinity, kNan}) {
      // Only the first k products and the first kM rows and kN columns are finite.
      std::vector<float> a(kLd * kLd, outside), b = a;
      for (Index i = 0; i < kM; ++i) std::fill_n(&a[static_cast<std::size_t>(i * kLd)], k, 1.0F);
      for (Index p = 0; p < k; ++p) std::fill_n(&b[static_cast<std::size_t>(p * kLd)], kN, 1.0F);
      std::vector<float> memory(static_cast<std::size_t>(PackedSize<float>(kLd, kLd)));
      const PackedB<float> packed{memory.data(), kLd, kLd, operands};
      Pack(Op::kNone, {b.data(), kLd}, packed);
      std::vector<float> c(kM * kN, kNan), from_packed = c;
      Gemm(Op::kNone, Op::kNone, kM, kN, k, {a.data(), kLd}, {b.data(), kLd}, 0.0F, c.data(), kN, operands);
      Gemm(Op::kNone, kM, kN, k, {a.data(), kLd}, packed, 0.0F, from_packed.data(), kN);
      CHECK(c == std::vector<float>(kM * kN, static_cast<float>(k)));
      CHECK(from_packed == c);
    }
  }
}

TEST_CASE("in bf16, NaN and infinity among the operands show in the elements that meet them") {
  for (const Index place : {0, 31, 32, 39}) {
    std::vector<float> a(3 * 40, 1.0F), b(40 * 2, 1.0F), c(3 * 2);
    const auto product = [&] {
      Gemm(Op::kNone, Op::kNone, 3, 2, 40, {a.data(), 40}, {b.data(), 2}, 0.0F, c.data(), 2, Operands::kBf16);
    };
    const auto at = static_cast<std::size_t>(place);
    a[40 + at] = kInfinity;
    a[80 + at] = kNan;
    product();
    CHECK((c[0] == 40 && c[1] == 40 && c[2] == kInfinity && c[3] == kInfinity));
    CHECK((std::isnan(c[4]) && std::isnan(c[5])));
    b[2 * at] = 0;
    b[2 * at + 1] = -1;
    product();
    CHECK((c[0] == 39 && c[1] == 38 && std::isnan(c[2]) && c[3] == -kInfinity && std::isnan(c[4])));
  }
}

TEST_CASE("in bf16, values beyond the largest become infinite, and the smallest normal ones count") {
  const float largest = std::numeric_limits<float>::max(), smallest = std::numeric_limits<float>::min();
  float c = 0;
  const auto product = [&c](float a, float b) {
    Gemm(Op::kNone, Op::kNone, 1, 1, 1, {&a, 1}, {&b, 1}, 0.0F, &c, 1, Operands::kBf16);
    return c;
  };
  CHECK(product(largest, 1) == kInfinity);
  CHECK(product(smallest, 4) == 4 * smallest);
  CHECK(product(1.00390625F, 1.0F) == 1.0F);  // halfway, to the even one
  CHECK(product(smallest / 2, 4) == (kBf16Instructions ? 0 : 2 * smallest));
}

#if defined(__AVX512BF16__)

std::vector<float> RandomBf16(Stream& stream, Index count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = RoundToBf16(static_cast<float>(stream.Normal()));
  return values;
}

TEST_CASE("in bf16, an element is one chain: to go on from C is to continue the product") {
  Stream stream(5, "bf16 chains");
  constexpr Index kM = 40, kN = 37, kK = 150;
  const auto a = RandomBf16(stream, kM * kK), b = RandomBf16(stream, kN * kK);
  std::vector<float> whole(kM * kN), parts(kM * kN);
  const auto add = [&](Index from, Index k, std::vector<float>& c) {
    Gemm(Op::kNone, Op::kTranspose, kM, kN, k, {a.data() + from, kK}, {b.data() + from, kK},
         from == 0 ? 0.0F : 1.0F, c.data(), kN, Operands::kBf16);
  };
  add(0, kK, whole);
  add(0, 64, parts);
  add(64, kK - 64, parts);
  CHECK(std::memcmp(whole.data(), parts.data(), whole.size() * sizeof(float)) == 0);
}

/// C of one block by one kernel, and the largest error against double in half an epsilon of Σ|a||b| + |C|.
double KernelError(Bf16Kernel kernel, bool from_zero, Stream& stream) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Floats = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  constexpr Index kK = 93, kLd = 35;
  auto a = RandomBf16(stream, 32 * kK), b = RandomBf16(stream, kK * 32), c = RandomBf16(stream, 32 * kLd);
  std::vector<Bf16> packed_a(3 * kBf16GroupSize<1>), packed_b(3 * kBf16GroupSize<1>);
  PackBf16<1, true, true>(32, kK, a.data(), kK, packed_a.data());
  PackBf16<1, false, false>(32, kK, b.data(), 32, packed_b.data());
  const Matrix left = Floats(a.data(), 32, kK).cast<double>(),
               right = Floats(b.data(), kK, 32).cast<double>();
  Matrix before = Floats(c.data(), 32, kLd).cast<double>();
  if (from_zero) before.leftCols(32).setZero();
  kernel(3, packed_a.data(), packed_b.data(), from_zero, c.data(), kLd);
  const Matrix after = Floats(c.data(), 32, kLd).cast<double>();
  CHECK(after.rightCols(kLd - 32) == before.rightCols(kLd - 32));
  const Matrix most = left.cwiseAbs() * right.cwiseAbs() + before.leftCols(32).cwiseAbs();
  const Matrix error = (after - before).leftCols(32) - left * right;
  return (error.array().abs() / most.array()).maxCoeff() / (std::numeric_limits<float>::epsilon() / 2);
}

TEST_CASE("each kernel of bf16 products equals the product in double up to its roundings") {
  Stream stream(6, "bf16 kernels");
  for (const bool from_zero : {true, false}) {
    CHECK(KernelError(Bf16DotKernel, from_zero, stream) < 93);
#if defined(__AMX_BF16__)
    if (!MayUseTiles()) continue;
    const TileUse tiles;
    CHECK(KernelError(Bf16TileKernel, from_zero, stream) < 93);
#endif
  }
}

/// The floats that terms of a packed tile's word stand for.
float Sum(const std::vector<Bf16>& packed, Index at, int terms) {
  float sum = 0;
  for (int term = terms - 1; term >= 0; --term) {
    const auto bits = static_cast<std::uint32_t>(packed[static_cast<std::size_t>(at + term * kBf16Term)])
                      << 16;
    sum += std::bit_cast<float>(bits);
  }
  return sum;
}

template <int kTerms>
void CheckPacking(Index count, Index depth, const std::vector<float>& x) {
  INFO(count << " x " << depth << ", terms " << kTerms);
  auto transposed = x;
  for (Index i = 0; i < count; ++i)
    for (Index p = 0; p < depth; ++p)
      transposed[static_cast<std::size_t>(p * count + i)] = x[static_cast<std::size_t>(i * depth + p)];
  const Index groups = Bf16Groups(depth);
  const auto size = static_cast<std::size_t>(Bf16Panels(count) * groups * kBf16GroupSize<kTerms>);
  std::vector<Bf16> left(size, 1), left_t = left, right = left, right_t = left;
  PackBf16<kTerms, true, true>(count, depth, x.data(), depth, left.data());
  PackBf16<kTerms, true, false>(count, depth, transposed.data(), count, left_t.data());
  PackBf16<kTerms, false, true>(count, depth, x.data(), depth, right_t.data());
  PackBf16<kTerms, false, false>(count, depth, transposed.data(), count, right.data());
  CHECK((left == left_t && right == right_t));
  bool same = true;
  for (Index i = 0; i < Bf16Panels(count) * 32; ++i)
    for (Index p = 0; p < groups * 32; ++p) {
      const float value = i < count && p < depth ? x[static_cast<std::size_t>(i * depth + p)] : 0;
      const Index tile = (i / 32 * groups + p / 32) * kBf16GroupSize<kTerms> + i / 16 % 2 * kBf16Tile;
      // One term: products 2r and 2r + 1 are a pair. Three: r and r + 16.
      const Index product = p % 32, pair = kTerms == 1 ? product / 2 : product % 16,
                  half = kTerms == 1 ? product % 2 : product / 16;
      same = same && Sum(left, tile + i % 16 * 32 + pair * 2 + half, kTerms) == value &&
             Sum(right, tile + pair * 32 + i % 16 * 2 + half, kTerms) == value;
    }
  CHECK(same);
}

TEST_CASE("all ways to pack give the tiles that their layout says, and terms that add up to the operand") {
  Stream stream(7, "bf16 packing");
  for (const auto& [count, depth] : {std::pair<Index, Index>{1, 1}, {33, 31}, {16, 65}, {50, 64}, {40, 17}}) {
    CheckPacking<1>(count, depth, RandomBf16(stream, count * depth));
    std::vector<float> wide(static_cast<std::size_t>(count * depth));
    for (float& x : wide)
      x = static_cast<float>(stream.Normal() * std::exp2(static_cast<double>(stream.Below(200)) - 100));
    CheckPacking<3>(count, depth, wide);
  }
}

#endif

}  // namespace
}  // namespace dark
