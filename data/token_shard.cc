#include "data/token_shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "core/error.h"
#include "core/files/replace_file.h"
#include "data/content_hash.h"

namespace dark {
namespace {

// A maximum takes all tokens of a vector register at a time, a search that may end anywhere one.
std::uint32_t Largest(std::span<const std::uint32_t> tokens) {
  const std::uint32_t* end = tokens.data() + tokens.size();
  std::uint32_t largest = 0;
#pragma omp simd reduction(max : largest)
  for (const std::uint32_t* token = tokens.data(); token < end; ++token) largest = std::max(largest, *token);
  return largest;
}

/// What the content of a shard is checked by.
struct Content {
  std::uint64_t checksum = 0;
  std::uint32_t largest = 0;  ///< token
};

// Both in one pass, block by block: tokens come from memory once.
Content ContentOf(const ShardHeader& header, std::span<const std::uint32_t> tokens,
                  std::span<const std::byte> tokenizer) {
  constexpr std::size_t kBlock = 8192;
  Content content;
  ContentHasher hasher(
      ContentHash(std::as_bytes(std::span(&header, 1)).first(offsetof(ShardHeader, checksum))));
  for (std::size_t begin = 0; begin < tokens.size(); begin += kBlock) {
    const auto block = tokens.subspan(begin, std::min(kBlock, tokens.size() - begin));
    hasher.Add(std::as_bytes(block));
    content.largest = std::max(content.largest, Largest(block));
  }
  content.checksum = ContentHash(tokenizer, hasher.Value());
  return content;
}

[[noreturn]] void Damaged(const std::string& path, const std::string& what) {
  throw Error(fmt::format("{}: {}; delete the file and it is prepared anew", path, what), Exit::kFailed);
}

ShardHeader ReadHeader(const std::string& path, std::span<const std::byte> file) {
  ShardHeader header;
  if (file.size() < sizeof header)
    Damaged(path,
            fmt::format("not a token shard: {} bytes, need {} for the header", file.size(), sizeof header));
  std::memcpy(&header, file.data(), sizeof header);
  if (header.magic != ShardHeader::kMagic) Damaged(path, "not a token shard: wrong first bytes");
  if (header.version != ShardHeader::kVersion)
    Damaged(path, fmt::format("token shard of version {}, this program reads {}", header.version,
                              ShardHeader::kVersion));
  // Compared by division and subtraction: a damaged count must not overflow into a plausible size.
  const std::uint64_t body = file.size() - sizeof header;
  const bool fits = header.tokens <= body / sizeof(std::uint32_t) &&
                    header.tokenizer_bytes == body - header.tokens * sizeof(std::uint32_t) &&
                    header.train_tokens <= header.tokens;
  if (!fits)
    Damaged(path, fmt::format("truncated or damaged: {} bytes, but the header says {} tokens, {} of them for "
                              "training, and {} bytes of tokenizer",
                              file.size(), header.tokens, header.train_tokens, header.tokenizer_bytes));
  return header;
}

}  // namespace

void TokenShard::Write(const std::string& path, const PreparedText& text) {
  const std::string json = text.tokenizer.ToJson();
  ShardHeader header;
  header.vocab = static_cast<std::uint32_t>(text.tokenizer.vocab());
  header.tokens = text.tokens.size();
  header.train_tokens = text.train_tokens;
  header.tokenizer_bytes = json.size();
  header.data_hash = text.data_hash;
  header.split_hash = text.split_hash;
  const auto tokenizer = std::as_bytes(std::span(json));
  header.checksum = ContentOf(header, text.tokens, tokenizer).checksum;
  ReplaceFile(path, {std::as_bytes(std::span(&header, 1)), std::as_bytes(std::span(text.tokens)), tokenizer});
}

TokenShard::TokenShard(const std::string& path) : file_(path) {
  const ShardHeader header = ReadHeader(path, file_.bytes());
  const auto body = file_.bytes().subspan(sizeof header);
  const auto tokens = body.first(header.tokens * sizeof(std::uint32_t));
  const auto tokenizer = body.subspan(tokens.size());
  // The mapping starts at a page and the header is 64 bytes, so the tokens are aligned.
  tokens_ = {reinterpret_cast<const std::uint32_t*>(tokens.data()), header.tokens};
  const Content content = ContentOf(header, tokens_, tokenizer);
  if (content.largest >= header.vocab) RequireTokensBelow(tokens_, header.vocab, path);
  if (content.checksum != header.checksum) Damaged(path, "wrong checksum");
  tokenizer_ = Tokenizer::FromJson({reinterpret_cast<const char*>(tokenizer.data()), tokenizer.size()}, path);
  if (tokenizer_.vocab() != header.vocab)
    Damaged(path, fmt::format("vocabulary of {}, its tokenizer has {}", header.vocab, tokenizer_.vocab()));
  train_tokens_ = header.train_tokens;
  data_hash_ = header.data_hash;
  split_hash_ = header.split_hash;
}

void RequireTokensBelow(std::span<const std::uint32_t> tokens, Index vocab, const std::string& origin) {
  const auto beyond =
      std::find_if(tokens.begin(), tokens.end(), [vocab](auto token) { return token >= vocab; });
  if (beyond == tokens.end()) return;
  throw Error(fmt::format("{}: token {} at position {} is beyond the vocabulary of {}", origin, *beyond,
                          beyond - tokens.begin(), vocab),
              Exit::kFailed);
}

}  // namespace dark
