#include "experiments/config/numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace dark {
namespace {

std::size_t SkipDigits(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
  return at;
}

bool HasSign(std::string_view text, std::size_t at) {
  return at < text.size() && (text[at] == '+' || text[at] == '-');
}

// from_chars alone would take hex, inf, nan and a valid beginning of anything; YAML 1.1 readers take 010 as
// octal, so a leading zero is refused rather than given either meaning.
bool IsDecimal(std::string_view text) {
  const std::size_t whole_begin = HasSign(text, 0) ? 1 : 0;
  std::size_t at = SkipDigits(text, whole_begin);
  const std::size_t whole_digits = at - whole_begin;
  if (whole_digits > 1 && text[whole_begin] == '0') return false;
  std::size_t fraction_digits = 0;
  if (at < text.size() && text[at] == '.') {
    const std::size_t end = SkipDigits(text, at + 1);
    fraction_digits = end - (at + 1);
    at = end;
  }
  if (whole_digits + fraction_digits == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const std::size_t exponent_begin = at + (HasSign(text, at + 1) ? 2 : 1);
    at = SkipDigits(text, exponent_begin);
    if (at == exponent_begin) return false;
  }
  return at == text.size();
}

template <class Number>
std::optional<Number> FromChars(std::string_view text) {
  if (text.front() == '+') text.remove_prefix(1);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> ParseReal(std::string_view text) {
  if (!IsDecimal(text)) return std::nullopt;
  return FromChars<double>(text);
}

std::optional<std::int64_t> ParseInteger(std::string_view text) {
  if (!IsDecimal(text)) return std::nullopt;
  if (text.find_first_of(".eE") == std::string_view::npos) return FromChars<std::int64_t>(text);
  const std::optional<double> real = FromChars<double>(text);
  constexpr double kExactLimit = 9007199254740992;  // 2^53
  if (!real || std::abs(*real) > kExactLimit || *real != std::trunc(*real)) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

std::string RealText(double value) { return fmt::format("{}", value); }

}  // namespace dark
