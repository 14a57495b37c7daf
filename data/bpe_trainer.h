#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "data/tokenizer.h"

namespace dark {

/// Learns the merges of a byte-level BPE with `vocab` >= 257 tokens from `texts`, which are chunked one by
/// one. Each step joins the pair with most occurrences; of equal counts, the pair with the lowest tokens, so
/// equal texts give equal merges everywhere. Fewer merges come back when no pair occurs twice any more.
std::vector<Merge> TrainBpe(std::span<const std::string_view> texts, Index vocab);

}  // namespace dark
