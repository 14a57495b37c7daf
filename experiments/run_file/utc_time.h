#pragma once

#include <ctime>
#include <string>

#include <fmt/chrono.h>

namespace dark {

/// Now, as "2026-01-31T23:59:59Z".
inline std::string UtcNow() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace dark
