#pragma once

#include <cstddef>
#include <functional>

namespace dark::testing {

/// Calls of operator new, on any thread, while `body` runs.
std::size_t CountAllocations(const std::function<void()>& body);

}  // namespace dark::testing
