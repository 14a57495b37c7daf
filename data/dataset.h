#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/options.h"
#include "data/tokenizer.h"

namespace dark {

/// Tokens of one text, split for training and validation. Copies share the same tokens.
class Dataset {
 public:
  /// Reads the text and prepares it, or finds it prepared in the cache, and maps the tokens. Throws
  /// Error(kUsage) with counts when a window of `context` + 1 tokens does not fit both splits.
  static Dataset Open(const DataOptions& options, Index context);
  /// Tokens made elsewhere (synthetic tasks, tests); throws Error(kFailed) with position and id for a token
  /// beyond `vocab`.
  static Dataset FromTokens(std::vector<std::uint32_t> train, std::vector<std::uint32_t> validation,
                            Index vocab);

  std::span<const std::uint32_t> train() const;
  std::span<const std::uint32_t> validation() const;
  Index vocab() const;
  /// 16 hex digits: hash of the text, whatever the tokenizer.
  const std::string& data_hash() const;
  /// 16 hex digits: hash of which bytes of which text are held out. Runs compare only when these are equal.
  const std::string& split_hash() const;
  /// The byte tokenizer when the tokens were made elsewhere.
  const Tokenizer& tokenizer() const;
  /// The token shard, "" when the tokens live in memory only.
  const std::string& path() const;

 private:
  struct State;
  explicit Dataset(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

}  // namespace dark
