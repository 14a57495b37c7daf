#include "core/tensor/exp2.h"

#if defined(__AVX512F__)

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace dark {
namespace {

float Of(float x) {
  float lanes[16];
  _mm512_storeu_ps(lanes, Exp2(_mm512_set1_ps(x)));
  for (const float lane : lanes) REQUIRE((lane == lanes[0] || std::isnan(x)));
  return lanes[0];
}

TEST_CASE("the power of two is within one unit in the last place of the exact one") {
  double worst = 0;
  for (float x = -126; x < 128; x += 0.0017F) {
    const double exact = std::exp2(static_cast<double>(x));
    const float nearest = static_cast<float>(exact);
    const double unit = static_cast<double>(nearest) - static_cast<double>(std::nextafter(nearest, 0.0F));
    worst = std::max(worst, std::abs(static_cast<double>(Of(x)) - exact) / unit);
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
