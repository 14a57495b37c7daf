#pragma once

#include <string>
#include <vector>

#include "sweeps/expand.h"

namespace dark {

/// Longest name of a trial in bytes.
inline constexpr std::size_t kLongestTrialName = 120;

/// Names every trial by those of `keys` (dotted, in this order) that differ between trials, its seed, and the
/// first 8 digits of its id.
void NameTrials(const std::vector<std::string>& keys, std::vector<Trial>& trials);

}  // namespace dark
