#pragma once

#include <string>

#include "analysis/statistics.h"

namespace dark::analysis {

// How numbers are put into sentences and tables. A number that does not exist is "–".

/// Shortest text that reads back as the same number: "0.003", "3e-05".
std::string Lr(double lr);
/// `x` with `digits` decimals; very large and very small numbers in scientific form.
std::string Fixed(double x, int digits);
/// "2.345 ± 0.012 (n=3)", "2.345 (n=1, no interval)" or "–".
std::string Plain(const Estimate& estimate, int digits);
/// The same with a sign, for differences.
std::string Signed(const Estimate& estimate, int digits);
/// "1 run", "3 runs".
std::string Count(std::size_t n, const std::string& noun);

}  // namespace dark::analysis
