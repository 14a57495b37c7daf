#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/setting.h"

namespace dark {

/// Two neighbouring tokens that byte-pair encoding joins into one.
using Merge = std::array<std::uint32_t, 2>;

/// A merge as one number; numbers have the order of the merges.
constexpr std::uint64_t PairKey(const Merge& merge) { return std::uint64_t{merge[0]} << 32 | merge[1]; }
constexpr Merge MergeOf(std::uint64_t key) {
  return {static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key)};
}

/// Byte-level byte-pair encoding. Tokens 0–255 are the bytes, token 256+i joins the two tokens of merge i.
/// Without merges it is the byte tokenizer. Decode(Encode(s)) == s for any bytes, valid UTF-8 or not.
class Tokenizer {
 public:
  /// The byte tokenizer.
  Tokenizer() : Tokenizer(std::vector<Merge>{}) {}
  /// Throws Error(kUsage) when a merge names a token that does not exist before it, or is there twice.
  explicit Tokenizer(std::vector<Merge> merges);

  Index vocab() const { return static_cast<Index>(token_bytes_.size()); }
  const std::vector<Merge>& merges() const { return merges_; }

  std::vector<std::uint32_t> Encode(std::string_view bytes) const;
  /// Throws Error(kUsage) with position and id for a token beyond the vocabulary.
  std::string Decode(std::span<const std::uint32_t> tokens) const;
  /// The bytes of one token.
  const std::string& Bytes(std::uint32_t token) const { return token_bytes_.at(token); }

  /// JSON with the merges and, for people, the escaped bytes of each token. FromJson gives an equal tokenizer
  /// or throws Error(kFailed) that names `origin`.
  std::string ToJson() const;
  static Tokenizer FromJson(std::string_view json, const std::string& origin);
  void Save(const std::string& path) const;
  static Tokenizer Load(const std::string& path);

  bool operator==(const Tokenizer& other) const { return merges_ == other.merges_; }

 private:
  void EncodeChunk(std::string_view chunk, std::vector<std::uint32_t>& out) const;
  std::uint32_t Joined(std::uint32_t left, std::uint32_t right) const;

  std::vector<Merge> merges_;
  std::vector<std::string> token_bytes_;                     // by token
  std::unordered_map<std::uint64_t, std::uint32_t> joined_;  // PairKey → token
};

/// Printable ASCII as it is, backslash doubled, every other byte as \xHH: one line, exact, safe on a
/// terminal.
std::string Escape(std::string_view bytes);

}  // namespace dark
