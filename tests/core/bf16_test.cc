#include "core/tensor/bf16.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.h"

namespace dark {
namespace {

std::uint32_t Bits(float value) { return std::bit_cast<std::uint32_t>(value); }
float FromBits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// By distance, in double: of the two bfloat16 around |value| the nearer, at equal distance the even one. The
/// one after the largest is 2^128, which is infinity.
float NearestBySearch(float value) {
  if (!std::isfinite(value)) return value;
  const std::uint32_t below = (Bits(value) & 0x7fffffff) >> 16, above = below + 1;
  const auto magnitude = [](std::uint32_t top) {
    return top == 0x7f80 ? std::ldexp(1.0, 128) : static_cast<double>(FromBits(top << 16));
  };
  const double target = std::abs(static_cast<double>(value));
  const double down = target - magnitude(below), up = magnitude(above) - target;
  const std::uint32_t nearest = down != up ? (down < up ? below : above) : (below % 2 == 0 ? below : above);
  return std::copysign(FromBits(nearest << 16), value);
}

/// Random patterns (all exponents, subnormals among them), and for each sign and exponent ties, their
/// neighbours and the ends of the significand.
std::vector<float> Patterns() {
  std::vector<float> values;
  Stream stream(1, "bf16");
  for (int i = 0; i < 200'000; ++i)
    values.push_back(FromBits(static_cast<std::uint32_t>(stream.Below(std::uint64_t{1} << 32))));
  for (std::uint32_t top = 0; top < 512; ++top)
    for (const std::uint32_t low : {0x000000U, 0x000001U, 0x007fffU, 0x008000U, 0x008001U, 0x017fffU,
                                    0x018000U, 0x018001U, 0x7f7fffU, 0x7f8000U, 0x7f8001U, 0x7fffffU})
      values.push_back(FromBits(top << 23 | low));
  return values;
}

TEST_CASE("rounding to bf16 gives the nearest one, ties to even, infinities and subnormals too") {
  for (const float value : Patterns()) {
    if (std::isnan(value)) continue;
    INFO(std::hex << Bits(value));
    REQUIRE(Bits(RoundToBf16(value)) == Bits(NearestBySearch(value)));
  }
  CHECK(RoundToBf16(1.00390625F) == 1.0F);       // halfway between 1 and 1 + 2^-7
  CHECK(RoundToBf16(1.01171875F) == 1.015625F);  // halfway, and the even one is above
  CHECK(RoundToBf16(std::numeric_limits<float>::max()) == std::numeric_limits<float>::infinity());
}

TEST_CASE("rounding to bf16 keeps every NaN a NaN, with its sign") {
  for (const std::uint32_t bits :
       {0x7f800001U, 0x7f80ffffU, 0x7fc00000U, 0x7fffffffU, 0xff800001U, 0xffffffffU}) {
    const float rounded = RoundToBf16(FromBits(bits));
    CHECK(std::isnan(rounded));
    CHECK((Bits(rounded) & 0xffff) == 0);
    CHECK(std::signbit(rounded) == (bits >> 31 == 1));
  }
}

TEST_CASE("rounding many values rounds each, at every length of the tail") {
  const std::vector<float> patterns = Patterns();
  for (std::size_t count = 0; count < 70; ++count) {
    std::vector<float> values(patterns.end() - 71, patterns.end());
    const std::vector<float> before = values;
    RoundToBf16(values.data(), static_cast<Index>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
      REQUIRE(Bits(values[i]) == Bits(i < count ? RoundToBf16(before[i]) : before[i]));
  }
}

}  // namespace
}  // namespace dark
