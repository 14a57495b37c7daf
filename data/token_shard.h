#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/mapped_file.h"
#include "data/tokenizer.h"

namespace dark {

/// A prepared text in memory: training tokens, then validation tokens.
struct PreparedText {
  std::vector<std::uint32_t> tokens;
  std::uint64_t train_tokens = 0;
  std::uint64_t data_hash = 0;
  std::uint64_t split_hash = 0;
  Tokenizer tokenizer;
};

/// A prepared text in one file, mapped read-only. Layout, little-endian: ShardHeader, tokens as uint32, the
/// tokenizer as JSON.
class TokenShard {
 public:
  /// Atomic: readers see the old shard or the new one. Throws Error(kFailed).
  static void Write(const std::string& path, const PreparedText& text);
  /// Checks header, size, checksum and that each token is in the vocabulary. Throws Error(kFailed) with path
  /// and what is wrong, for a token its position and id.
  explicit TokenShard(const std::string& path);

  std::span<const std::uint32_t> train() const { return tokens_.first(train_tokens_); }
  std::span<const std::uint32_t> validation() const { return tokens_.subspan(train_tokens_); }
  const Tokenizer& tokenizer() const { return tokenizer_; }
  std::uint64_t data_hash() const { return data_hash_; }
  std::uint64_t split_hash() const { return split_hash_; }

 private:
  MappedFile file_;
  std::span<const std::uint32_t> tokens_;
  std::size_t train_tokens_ = 0;
  std::uint64_t data_hash_ = 0, split_hash_ = 0;
  Tokenizer tokenizer_;
};

/// First 64 bytes of a shard.
struct ShardHeader {
  static constexpr std::uint64_t kMagic = 0x534E454B4F544B44;  // "DKTOKENS"
  static constexpr std::uint32_t kVersion = 1;  ///< to be raised also when split or tokenizer change

  std::uint64_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t vocab = 0;
  std::uint64_t tokens = 0;        ///< of both splits
  std::uint64_t train_tokens = 0;  ///< the first so many
  std::uint64_t tokenizer_bytes = 0;
  std::uint64_t data_hash = 0;
  std::uint64_t split_hash = 0;
  std::uint64_t checksum = 0;  ///< ContentHash of all that follows, seeded with the hash of all before
};
static_assert(sizeof(ShardHeader) == 64);

/// Throws Error(kFailed) with `origin`, position and id for the first token that is not below `vocab`.
void RequireTokensBelow(std::span<const std::uint32_t> tokens, Index vocab, const std::string& origin);

}  // namespace dark
