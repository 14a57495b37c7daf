#pragma once

#include <vector>

#include "core/setting.h"

namespace dark {

/// A block of memory that is needed from step `first` to step `last` of a sequence, both included.
struct Lifetime {
  Index first, last;
  Index size;  ///< elements
};

/// Offsets at which blocks that are needed at the same step do not overlap, low in memory: each block, in the
/// order given, takes the lowest place that is free for all of its steps.
std::vector<Index> PlaceByLifetime(const std::vector<Lifetime>& blocks);

}  // namespace dark
