#pragma once

#include "experiments/config/run_config.h"

namespace dark {

/// Tokens of the vocabulary that `data` asks for.
Index VocabOf(const DataOptions& data);

/// Everything that decides the model of a config, as text: equal texts, equal models.
std::string ModelShape(const RunConfig& config);

/// Parameters of the model that a resolved config describes. Counting builds the model, so each shape is
/// built once a process however many runs of a sweep have it. For one thread only.
Index ParameterCount(const RunConfig& config);

}  // namespace dark
