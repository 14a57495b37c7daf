#pragma once

#include <cmath>

namespace dark::testing {

/// The larger of two, or NaN if one of them is: std::max would pass over it.
inline double Largest(double so_far, double value) {
  return std::isnan(value) || value > so_far ? value : so_far;
}

}  // namespace dark::testing
