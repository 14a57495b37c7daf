#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/options.h"
#include "data/token_shard.h"

namespace dark {

/// Splits and tokenises a text; `data_hash` is its ContentHash. Pieces of the split are tokenised one by one,
/// so no token reaches across a border, and BPE is trained on the training pieces only. Throws Error(kUsage)
/// for an option out of range.
PreparedText PrepareText(std::string_view text, std::uint64_t data_hash, const DataOptions& options);

/// File name in the cache: a hash of all that decides the content of the shard.
std::string ShardName(std::uint64_t data_hash, const DataOptions& options);

/// `options.cache`, else the first that can be written of $XDG_CACHE_HOME/darkformer, ~/.cache/darkformer and
/// a folder of the user's in the temporary directory. Creates it. Throws Error(kFailed).
std::string CacheFolder(const DataOptions& options);

}  // namespace dark
