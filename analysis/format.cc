#include "analysis/format.h"

#include <fmt/format.h>

#include <cmath>

namespace dark::analysis {
namespace {

constexpr const char* kNothing = "–";

std::string Text(const Estimate& e, int digits, bool sign) {
  if (e.n == 0) return kNothing;
  const std::string mean = (sign && e.mean >= 0 ? "+" : "") + Fixed(e.mean, digits);
  if (!e.half) return fmt::format("{} (n={}, no interval)", mean, e.n);
  return fmt::format("{} ± {} (n={})", mean, Fixed(*e.half, digits), e.n);
}

}  // namespace

std::string Lr(double lr) { return fmt::format("{}", lr); }

std::string Fixed(double x, int digits) {
  if (std::isnan(x)) return kNothing;
  const double size = std::abs(x);
  const bool lost = size > 0 && size < 0.5 * std::pow(10, -digits);
  if (size >= 1e5 || lost) return fmt::format("{:.2g}", x);
  return fmt::format("{:.{}f}", x, digits);
}

std::string Plain(const Estimate& estimate, int digits) { return Text(estimate, digits, false); }
std::string Signed(const Estimate& estimate, int digits) { return Text(estimate, digits, true); }

std::string Count(std::size_t n, const std::string& noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

}  // namespace dark::analysis
