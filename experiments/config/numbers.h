#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dark {

/// The finite double nearest to a decimal number: sign, digits, point, exponent, as in -2, .5e-3, 1.E+4.
/// Nothing for any other text (blanks, leading zeros, hex, digit separators, nan, inf) and for a magnitude
/// that a double cannot hold. Never depends on the locale.
std::optional<double> ParseReal(std::string_view text);

/// A whole number within 64 bits, written with digits only or as a decimal number whose value is whole (1e3,
/// 1000.0) and at most 2^53 in magnitude, where doubles are exact.
std::optional<std::int64_t> ParseInteger(std::string_view text);

/// The shortest text that ParseReal reads back to the same double: 0.0001, 1e-05, 3, 1e+16. Equal texts if
/// and only if equal bits (for numbers).
std::string RealText(double value);

}  // namespace dark
