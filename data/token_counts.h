#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/tokenizer.h"

namespace dark {

/// How often each token occurs and how many bytes the tokens stand for.
struct TokenCounts {
  std::vector<std::int64_t> count;  ///< by token
  std::int64_t bytes = 0;

  /// Up to `limit` tokens that occur, most frequent first; of equal counts, the lower token first.
  std::vector<std::uint32_t> MostFrequent(std::size_t limit) const;
  /// Tokens that occur at all.
  std::int64_t Used() const;
};

TokenCounts CountTokens(std::span<const std::uint32_t> tokens, const Tokenizer& tokenizer);

}  // namespace dark
