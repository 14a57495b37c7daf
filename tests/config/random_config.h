#pragma once

#include <string>

#include "core/random.h"
#include "experiments/config/run_config.h"

namespace dark {

/// Some text: any mix of plain words, YAML's special characters, control characters and letters beyond ASCII.
std::string RandomText(Stream& stream);

/// A finite double of any sign and magnitude, denormals included: 64 random bits, drawn again when not
/// finite.
double RandomReal(Stream& stream);

/// A resolved, valid config in which every setting may differ from its default.
RunConfig RandomConfig(Stream& stream);

/// Whether every setting of both configs has the same value, bit by bit.
bool SameSettings(RunConfig a, RunConfig b);

}  // namespace dark
