#include "data/dataset.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "core/error.h"
#include "data/batches.h"
#include "data/content_hash.h"
#include "data/corpus.h"
#include "data/prepare.h"
#include "data/token_shard.h"

namespace dark {
namespace {

// A shard inside the text folder would be read as text the next time, and the text would never be the same.
void RequireOutside(const std::string& text, const std::string& cache) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(text)) return;
  const fs::path below = fs::weakly_canonical(cache).lexically_relative(fs::weakly_canonical(text));
  if (*below.begin() == "..") return;
  throw Error(fmt::format("the cache {} lies inside the text folder {}: set data.cache to another folder",
                          cache, text));
}

}  // namespace

// The spans point into `shard` or `memory`.
struct Dataset::State {
  std::optional<TokenShard> shard;
  std::vector<std::uint32_t> memory[2];
  std::span<const std::uint32_t> train, validation;
  Index vocab = 0;
  std::string data_hash, split_hash, path;
  Tokenizer tokenizer;
};

Dataset::Dataset(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Dataset Dataset::Open(const DataOptions& options, Index context) {
  CorpusMark mark = MarkCorpus(options.text);
  auto state = std::make_shared<State>();
  const std::string cache = CacheFolder(options);
  RequireOutside(options.text, cache);
  const auto path = [&] { return (std::filesystem::path(cache) / ShardName(mark.hash, options)).string(); };
  state->path = path();
  if (!std::filesystem::exists(state->path)) {
    const std::string text = ReadCorpus(options.text);
    mark = {ContentHash(text), text.size()};  // the text may have changed since the first look
    state->path = path();
    TokenShard::Write(state->path, PrepareText(text, mark.hash, options));
  }
  const TokenShard& shard = state->shard.emplace(state->path);
  if (shard.data_hash() != mark.hash)
    throw Error(fmt::format("{} holds the tokens of another text; delete it", state->path), Exit::kFailed);
  state->train = shard.train();
  state->validation = shard.validation();
  state->tokenizer = shard.tokenizer();
  state->vocab = shard.tokenizer().vocab();
  state->data_hash = Hex(shard.data_hash());
  state->split_hash = Hex(shard.split_hash());
  const std::string where = fmt::format("text {} ({} bytes): ", options.text, mark.bytes);
  RequireWindow(where + "training", state->train.size(), context);
  RequireWindow(where + "validation", state->validation.size(), context);
  return Dataset(std::move(state));
}

Dataset Dataset::FromTokens(std::vector<std::uint32_t> train, std::vector<std::uint32_t> validation,
                            Index vocab) {
  RequireTokensBelow(train, vocab, "training tokens");
  RequireTokensBelow(validation, vocab, "validation tokens");
  auto state = std::make_shared<State>();
  state->memory[0] = std::move(train);
  state->memory[1] = std::move(validation);
  state->train = state->memory[0];
  state->validation = state->memory[1];
  state->vocab = vocab;
  const std::uint64_t train_hash = ContentHash(std::as_bytes(state->train));
  const std::uint64_t data_hash = ContentHash(std::as_bytes(state->validation), train_hash);
  state->data_hash = Hex(data_hash);
  state->split_hash = Hex(ContentHash(std::as_bytes(state->validation)));
  return Dataset(std::move(state));
}

std::span<const std::uint32_t> Dataset::train() const { return state_->train; }
std::span<const std::uint32_t> Dataset::validation() const { return state_->validation; }
Index Dataset::vocab() const { return state_->vocab; }
const std::string& Dataset::data_hash() const { return state_->data_hash; }
const std::string& Dataset::split_hash() const { return state_->split_hash; }
const Tokenizer& Dataset::tokenizer() const { return state_->tokenizer; }
const std::string& Dataset::path() const { return state_->path; }

}  // namespace dark
