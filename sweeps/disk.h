#pragma once

#include <string>
#include <vector>

#include "sweeps/expand.h"

namespace dark {

/// Bytes the folder of one run grows to: rows in journal and run file, and a checkpoint with both moments.
double EstimateRunBytes(const RunConfig& config);

/// Bytes the named runs need, with room for one more copy of the largest for each of `jobs`, because files
/// are replaced by writing the new one beside the old.
double EstimateSweepBytes(const std::vector<const Trial*>& trials, int jobs);

/// Bytes an unprivileged process may still write to the file system of `folder`, which may not exist yet.
/// Throws Error(kFailed) with path and errno text.
double FreeBytes(const std::string& folder);

/// Throws Error(kFailed) with both numbers when `needed` bytes do not fit below `folder`.
void RequireSpace(const std::string& folder, double needed);

}  // namespace dark
