#pragma once

#include <chrono>

namespace dark {

/// For durations: it never jumps.
using Clock = std::chrono::steady_clock;

inline double SecondsSince(Clock::time_point moment) {
  return std::chrono::duration<double>(Clock::now() - moment).count();
}

}  // namespace dark
