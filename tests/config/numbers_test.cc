#include "experiments/config/numbers.h"

#include <bit>
#include <catch2/catch.hpp>
#include <limits>

#include "tests/config/random_config.h"

namespace dark {
namespace {

TEST_CASE("every spelling of a number is the same number") {
  for (const char* text : {"1e-4", "1E-4", "1.e-4", ".1e-3", "+1e-4", "0.0001", "1.0E-04", "100e-6"}) {
    CAPTURE(text);
    REQUIRE(ParseReal(text).has_value());
    CHECK(*ParseReal(text) == 0.0001);
  }
  CHECK(*ParseReal("1e+2") == 100);
  CHECK(*ParseReal("-2") == -2);
  CHECK(*ParseReal("4.9406564584124654e-324") == std::numeric_limits<double>::denorm_min());
}

TEST_CASE("what is not a plain decimal number is refused") {
  for (const char* text :
       {"",    " ",    "1e-4x", "0,001", "1_000", "0x10",   "010", "-00.5", "nan", ".nan",
        "inf", ".inf", "-.inf", "1 ",    " 1",    "1e",     "1e+", ".",     "+",   "-",
        ".e3", "+-1",  "1.2.3", "1e1.5", "1e999", "1e-999", "١",   "1f",    "1d3", "--1"}) {
    CAPTURE(text);
    CHECK_FALSE(ParseReal(text).has_value());
    CHECK_FALSE(ParseInteger(text).has_value());
  }
}

TEST_CASE("whole numbers may be written as decimal numbers as long as they are exact") {
  CHECK(ParseInteger("200") == 200);
  CHECK(ParseInteger("1e3") == 1000);
  CHECK(ParseInteger("1000.0") == 1000);
  CHECK(ParseInteger("+5") == 5);
  CHECK(ParseInteger("-7") == -7);
  CHECK(ParseInteger("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  CHECK(ParseInteger("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
  CHECK(ParseInteger("9007199254740992.0") == 9007199254740992);
  for (const char* text : {"1.5", "1e-3", "9223372036854775808", "9007199254740994.0", "1e17"}) {
    CAPTURE(text);
    CHECK_FALSE(ParseInteger(text).has_value());
  }
}

TEST_CASE("numbers print in one short form") {
  CHECK(RealText(1e-4) == "0.0001");
  CHECK(RealText(1e-5) == "1e-05");
  CHECK(RealText(3) == "3");
  CHECK(RealText(1e16) == "1e+16");
  CHECK(RealText(0.1 + 0.2) == "0.30000000000000004");
  CHECK(RealText(0.3) == "0.3");
  CHECK(RealText(-0.0) == "-0");
}

TEST_CASE("a million random doubles survive printing and parsing bit by bit") {
  Stream stream(1, "numbers");
  std::int64_t wrong = 0;
  const auto round_trip = [&](double value) {
    const auto parsed = ParseReal(RealText(value));
    wrong += !parsed || std::bit_cast<std::uint64_t>(*parsed) != std::bit_cast<std::uint64_t>(value);
  };
  for (int i = 0; i < 900000; ++i) round_trip(RandomReal(stream));
  for (int i = 0; i < 100000; ++i)  // denormals
    round_trip(std::bit_cast<double>(stream.Bits64() & 0x800FFFFFFFFFFFFFu));
  for (const double value : {0.0, -0.0, 5e-324, 1.7976931348623157e308, 2.2250738585072014e-308})
    round_trip(value);
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace dark
