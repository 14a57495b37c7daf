#include "data/token_counts.h"

#include <algorithm>
#include <numeric>

namespace dark {

std::vector<std::uint32_t> TokenCounts::MostFrequent(std::size_t limit) const {
  std::vector<std::uint32_t> tokens(count.size());
  std::iota(tokens.begin(), tokens.end(), 0u);
  std::stable_sort(tokens.begin(), tokens.end(), [this](auto a, auto b) { return count[a] > count[b]; });
  tokens.resize(std::min(limit, static_cast<std::size_t>(Used())));
  return tokens;
}

std::int64_t TokenCounts::Used() const {
  return std::count_if(count.begin(), count.end(), [](auto n) { return n > 0; });
}

TokenCounts CountTokens(std::span<const std::uint32_t> tokens, const Tokenizer& tokenizer) {
  TokenCounts counts;
  counts.count.resize(static_cast<std::size_t>(tokenizer.vocab()));
  for (const std::uint32_t token : tokens) ++counts.count[token];
  for (std::uint32_t token = 0; token < counts.count.size(); ++token)
    counts.bytes += counts.count[token] * static_cast<std::int64_t>(tokenizer.Bytes(token).size());
  return counts;
}

}  // namespace dark
