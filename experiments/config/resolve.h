#pragma once

#include <vector>

#include "experiments/config/run_config.h"

namespace dark {

/// Replaces every 0 that means "derived" by the derived value and returns the combinations of settings that
/// cannot work, with dotted keys ("model.kv_heads"). Resolving a resolved config changes nothing.
std::vector<Problem> Resolve(RunConfig& config);

}  // namespace dark
