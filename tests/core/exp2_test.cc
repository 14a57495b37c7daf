#include "core/tensor/exp2.h"

#if defined(__AVX512F__)

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/core/largest.h"

namespace dark {
namespace {

using Function = __m512 (*)(__m512);

/// Of 16 numbers, `step` apart from x on.
struct Lanes {
  float x[16], power[16];
  Lanes(Function function, float first, float step) {
    for (int i = 0; i < 16; ++i) x[i] = first + step * static_cast<float>(i);
    _mm512_storeu_ps(power, function(_mm512_loadu_ps(x)));
  }
};
float Of(Function function, float x) { return Lanes(function, x, 0).power[7]; }

/// Largest error for x from first to last, in units in the last place.
template <class Exact>
double WorstError(Function function, const Exact& exactly, float begin, float end) {
  double worst = 0;
  constexpr float kStep = 0.0017F;
  for (float first = begin; first < end - 16 * kStep; first += 16 * kStep) {
    const Lanes lanes(function, first, kStep);
    for (int i = 0; i < 16; ++i) {
      const double exact = exactly(static_cast<double>(lanes.x[i]));
      const auto nearest = static_cast<float>(exact);
      const double unit = static_cast<double>(nearest) - static_cast<double>(std::nextafter(nearest, 0.0F));
      worst = testing::Largest(worst, std::abs(static_cast<double>(lanes.power[i]) - exact) / unit);
    }
  }
  return worst;
}

const float kLowestExponent = -0x1.5d589ep6F;  // e to it is normal, to the float below not

TEST_CASE("powers of two and of e are within one unit in the last place of the exact ones") {
  CHECK(WorstError(
            Exp2, [](double x) { return std::exp2(x); }, -126, 128) <= 1);
  CHECK(WorstError(
            Exp, [](double x) { return std::exp(x); }, kLowestExponent, 88) <= 1);
  for (int n = -126; n < 128; ++n) CHECK(Of(Exp2, static_cast<float>(n)) == std::ldexp(1.0F, n));
  CHECK(Of(Exp, 0) == 1);
}

TEST_CASE("a power that is no normal number is zero, and that of NaN is NaN") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float x : {std::nextafter(-126.0F, -kInfinity), -127.0F, -149.0F, -1e30F, -kInfinity})
    CHECK(Of(Exp2, x) == 0);
  for (const float x : {std::nextafter(kLowestExponent, -kInfinity), -88.0F, -104.0F, -1e30F, -kInfinity})
    CHECK(Of(Exp, x) == 0);
  CHECK(Of(Exp, kLowestExponent) >= std::numeric_limits<float>::min());
  for (const Function function : {Exp2, Exp})
    CHECK(std::isnan(Of(function, std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace
}  // namespace dark

#endif
