#include "data/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "data/chunks.h"

namespace dark {
namespace {

constexpr std::uint32_t kBytes = 256;
constexpr std::uint32_t kNotJoined = std::numeric_limits<std::uint32_t>::max();

std::vector<std::uint32_t> EncodeBytes(std::string_view bytes) {
  std::vector<std::uint32_t> tokens(bytes.size());
  std::transform(bytes.begin(), bytes.end(), tokens.begin(),
                 [](char byte) { return static_cast<unsigned char>(byte); });
  return tokens;
}

}  // namespace

Tokenizer::Tokenizer(std::vector<Merge> merges) : merges_(std::move(merges)) {
  token_bytes_.reserve(kBytes + merges_.size());
  for (std::uint32_t byte = 0; byte < kBytes; ++byte) token_bytes_.emplace_back(1, static_cast<char>(byte));
  joined_.reserve(merges_.size());
  for (const Merge& merge : merges_) {
    const auto token = static_cast<std::uint32_t>(token_bytes_.size());
    if (std::max(merge[0], merge[1]) >= token)
      throw Error(fmt::format("merge {} joins token {}, but only tokens below {} exist before it",
                              token - kBytes, std::max(merge[0], merge[1]), token));
    if (!joined_.emplace(PairKey(merge), token).second)
      throw Error(fmt::format("merge {} joins tokens {} and {}, which an earlier merge joins", token - kBytes,
                              merge[0], merge[1]));
    token_bytes_.push_back(token_bytes_[merge[0]] + token_bytes_[merge[1]]);
  }
}

std::uint32_t Tokenizer::Joined(std::uint32_t left, std::uint32_t right) const {
  const auto at = joined_.find(PairKey({left, right}));
  return at == joined_.end() ? kNotJoined : at->second;
}

std::vector<std::uint32_t> Tokenizer::Encode(std::string_view bytes) const {
  if (merges_.empty()) return EncodeBytes(bytes);
  struct Range {
    std::size_t begin, end;
  };
  std::vector<std::uint32_t> tokens;
  tokens.reserve(bytes.size() / 2);
  // Text repeats its words, so each distinct chunk is encoded once and then copied.
  std::unordered_map<std::string_view, Range> seen;
  ForEachChunk(bytes, [&](std::string_view chunk) {
    const auto [at, is_new] = seen.try_emplace(chunk, Range{tokens.size(), 0});
    if (is_new) {
      EncodeChunk(chunk, tokens);
      at->second.end = tokens.size();
    } else {
      for (std::size_t i = at->second.begin; i < at->second.end; ++i) tokens.push_back(tokens[i]);
    }
  });
  return tokens;
}

// Joins, again and again, the leftmost of the pairs whose merge was learnt first. Lower tokens were learnt
// earlier, so that is the pair with the smallest joined token.
void Tokenizer::EncodeChunk(std::string_view chunk, std::vector<std::uint32_t>& out) const {
  std::array<std::uint32_t, kMaxChunk> tokens;
  std::array<std::uint32_t, kMaxChunk> joined;  // joined[i]: token of tokens[i] with tokens[i+1]
  std::size_t size = chunk.size();
  for (std::size_t i = 0; i < size; ++i) tokens[i] = static_cast<unsigned char>(chunk[i]);
  for (std::size_t i = 0; i + 1 < size; ++i) joined[i] = Joined(tokens[i], tokens[i + 1]);
  while (size > 1) {
    const auto best = std::min_element(joined.begin(), joined.begin() + (size - 1));
    if (*best == kNotJoined) break;
    const auto at = static_cast<std::size_t>(best - joined.begin());
    tokens[at] = *best;
    std::copy(tokens.begin() + at + 2, tokens.begin() + size, tokens.begin() + at + 1);
    std::copy(joined.begin() + at + 1, joined.begin() + (size - 1), joined.begin() + at);
    --size;
    if (at > 0) joined[at - 1] = Joined(tokens[at - 1], tokens[at]);
    if (at + 1 < size) joined[at] = Joined(tokens[at], tokens[at + 1]);
  }
  out.insert(out.end(), tokens.begin(), tokens.begin() + size);
}

std::string Tokenizer::Decode(std::span<const std::uint32_t> tokens) const {
  std::string bytes;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] >= token_bytes_.size())
      throw Error(
          fmt::format("token {} at position {} is beyond the vocabulary of {}", tokens[i], i, vocab()));
    bytes += token_bytes_[tokens[i]];
  }
  return bytes;
}

}  // namespace dark
