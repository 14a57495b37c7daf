#include "data/prepare.h"

#include <fmt/format.h>

#include "core/error.h"
#include "data/bpe_trainer.h"
#include "data/content_hash.h"
#include "data/split.h"

namespace dark {
namespace {

// For options that did not come through a parser, which checks each setting by the same declarations.
void RequireRange(const std::string& name, double value, const DataOptions& options) {
  DataOptions copy = options;
  for (const Setting& setting : Bind(copy))
    if (setting.name == name && !(value >= setting.min && value <= setting.max))
      throw Error(fmt::format("data.{} is {}, allowed are {} to {}", name, value, setting.min, setting.max));
}

Tokenizer MakeTokenizer(const std::vector<std::string_view>& train, const DataOptions& options) {
  if (options.tokenizer == "byte") return Tokenizer();
  if (options.tokenizer != "bpe")
    throw Error(fmt::format("data.tokenizer is \"{}\", allowed are byte and bpe", options.tokenizer));
  RequireRange("vocab", static_cast<double>(options.vocab), options);
  return Tokenizer(TrainBpe(train, options.vocab));
}

void AppendTokens(const Tokenizer& tokenizer, const std::vector<std::string_view>& pieces,
                  std::vector<std::uint32_t>& to) {
  for (const std::string_view piece : pieces) {
    const std::vector<std::uint32_t> tokens = tokenizer.Encode(piece);
    to.insert(to.end(), tokens.begin(), tokens.end());
  }
}

}  // namespace

PreparedText PrepareText(std::string_view text, std::uint64_t data_hash, const DataOptions& options) {
  RequireRange("val_fraction", options.val_fraction, options);
  const Split split = SplitText(text, data_hash, options.val_fraction);
  PreparedText prepared;
  prepared.data_hash = data_hash;
  prepared.split_hash = split.hash;
  prepared.tokenizer = MakeTokenizer(split.train, options);
  AppendTokens(prepared.tokenizer, split.train, prepared.tokens);
  prepared.train_tokens = prepared.tokens.size();
  AppendTokens(prepared.tokenizer, split.validation, prepared.tokens);
  return prepared;
}

std::string ShardName(std::uint64_t data_hash, const DataOptions& options) {
  const std::string tokenizer =
      options.tokenizer == "bpe" ? fmt::format("bpe {}", options.vocab) : options.tokenizer;
  const std::string recipe = fmt::format("shard {}; data {:016x}; {}; held out {}", ShardHeader::kVersion,
                                         data_hash, tokenizer, options.val_fraction);
  return Hex(ContentHash(recipe)) + ".tokens";
}

}  // namespace dark
