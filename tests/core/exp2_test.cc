#include "core/tensor/exp2.h"

#if defined(__AVX512F__)

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace dark {
namespace {

/// Of 16 numbers, `step` apart from x on.
struct Lanes {
  float x[16], power[16];
  Lanes(float first, float step) {
    for (int i = 0; i < 16; ++i) x[i] = first + step * static_cast<float>(i);
    _mm512_storeu_ps(power, Exp2(_mm512_loadu_ps(x)));
  }
};
float Of(float x) { return Lanes(x, 0).power[7]; }

TEST_CASE("the power of two is within one unit in the last place of the exact one") {
  double worst = 0;
  constexpr float kStep = 0.0017F;
  for (float first = -126; first < 128 - 16 * kStep; first += 16 * kStep) {
    const Lanes lanes(first, kStep);
    for (int i = 0; i < 16; ++i) {
      const double exact = std::exp2(static_cast<double>(lanes.x[i]));
      const auto nearest = static_cast<float>(exact);
      const double unit = static_cast<double>(nearest) - static_cast<double>(std::nextafter(nearest, 0.0F));
      worst = std::max(worst, std::abs(static_cast<double>(lanes.power[i]) - exact) / unit);
    }
  }
  INFO(worst);
  CHECK(worst <= 1);
  for (int n = -126; n < 128; ++n) CHECK(Of(static_cast<float>(n)) == std::ldexp(1.0F, n));
}

TEST_CASE("a power of two that is no normal number is zero, and that of NaN is NaN") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float x : {std::nextafter(-126.0F, -kInfinity), -127.0F, -149.0F, -1e30F, -kInfinity})
    CHECK(Of(x) == 0);
  CHECK(std::isnan(Of(std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace
}  // namespace dark

#endif
