#include "core/tensor/rows.h"

#include <catch2/catch.hpp>
#include <vector>

#include "core/attention/chunk.h"
#include "core/random.h"
#include "tests/core/largest.h"

namespace dark {
namespace {

using testing::Largest;

template <class T>
std::vector<T> Numbers(const char* name, Index count) {
  std::vector<T> x(static_cast<std::size_t>(count));
  Stream(5, name).Normals(std::span<T>(x));
  return x;
}

template <class T>
constexpr T kTiny = 64 * std::numeric_limits<T>::epsilon();

TEMPLATE_TEST_CASE("passes over rows of any width do to each number what they say", "", float, double) {
  using T = TestType;
  for (Index cols = 1; cols < 150; cols += cols < 40 ? 1 : 13) {
    const auto at = [&](Index i, Index j) { return static_cast<std::size_t>(i * cols + j); };
    constexpr Index kRows = 5;
    const std::vector<T> x = Numbers<T>("x", kRows * cols), weight = Numbers<T>("weight", kRows);
    const std::vector<T> before = Numbers<T>("total", cols);
    std::vector<T> total = before, scaled(x.size(), T(7)), powers = x, products = x;
    AddRows(kRows, cols, x.data(), weight.data(), T(0.5), total.data());
    ScaleRow(cols, T(3), x.data(), scaled.data());
    MultiplyBy(cols, x.data(), products.data());
    std::vector<T> scale(kRows, T(1));
    ExponentiateRows(kRows, cols, powers.data(), scale.data());

    INFO(cols << " columns");
    double error = 0, dot = 0, largest = x[0];
    for (Index j = 0; j < cols; ++j) {
      const auto i = static_cast<std::size_t>(j);
      double sum = 0.5 * static_cast<double>(before[i]);
      for (Index r = 0; r < kRows; ++r)
        sum += static_cast<double>(weight[static_cast<std::size_t>(r)]) * static_cast<double>(x[at(r, j)]);
      error = Largest(error, std::abs(static_cast<double>(total[i]) - sum));
      error = Largest(error, std::abs(static_cast<double>(scaled[i] - 3 * x[i])));
      error = Largest(error, std::abs(static_cast<double>(products[i] - x[i] * x[i])));
      dot += static_cast<double>(x[i]) * static_cast<double>(x[at(1, j)]);
      largest = std::max(largest, static_cast<double>(x[i]));
    }
    error = Largest(error, std::abs(static_cast<double>(RowDot(cols, x.data(), x.data() + cols)) - dot));
    for (Index j = 0; j < cols; ++j)
      error = Largest(error, std::abs(static_cast<double>(powers[at(0, j)]) -
                                      std::exp(static_cast<double>(x[at(0, j)]) - largest)));
    CHECK(error <= static_cast<double>(kTiny<T>));
    CHECK(static_cast<double>(RowMax(cols, x.data())) == largest);
    CHECK(scale[0] == 1 + static_cast<T>(largest));
    CHECK(std::all_of(scaled.begin() + cols, scaled.end(), [](T value) { return value == T(7); }));
  }
}

TEMPLATE_TEST_CASE("weights of a chunk are those of scales that run, and none is of a key ahead", "", float,
                   double) {
  using T = TestType;
  for (const Index rows : {Index{1}, Index{15}, Index{33}, kChunk}) {
    for (const T before : {-std::numeric_limits<T>::infinity(), T(0.5), T(100)}) {
      std::vector<T> scales = Numbers<T>("scales", rows);
      for (T& scale : scales) scale *= 20;
      T running[kChunk], carry[kChunk], weights[kChunk * kChunk];
      std::fill(std::begin(weights), std::end(weights), std::numeric_limits<T>::quiet_NaN());
      ChunkWeights(rows, before, scales.data(), running, carry, weights);
      double error = 0, largest = static_cast<double>(before);
      for (Index i = 0; i < kChunk; ++i) {
        if (i < rows) {
          largest = std::max(largest, static_cast<double>(scales[static_cast<std::size_t>(i)]));
          REQUIRE(static_cast<double>(running[i]) == largest);
          error = Largest(error, std::abs(static_cast<double>(carry[i]) -
                                          std::exp(static_cast<double>(before) - largest)));
        }
        for (Index j = 0; j < kChunk; ++j) {
          const bool seen = j <= i && i < rows;
          const double expected =
              seen ? std::exp(static_cast<double>(scales[static_cast<std::size_t>(j)]) - largest) : 0;
          error = Largest(error, std::abs(static_cast<double>(weights[i * kChunk + j]) - expected));
        }
      }
      INFO(rows << " rows after a scale of " << before);
      CHECK(error <= static_cast<double>(kTiny<T>));
    }
  }
}

}  // namespace
}  // namespace dark
