#include "data/token_shard.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "core/files/file.h"
#include "data/bpe_trainer.h"
#include "tests/data/generated.h"
#include "tests/temporary_folder.h"

namespace dark {
namespace {

using Catch::Contains;

PreparedText Example(std::uint64_t seed) {
  Stream random(seed, "shard");
  const std::string text = RandomProse(random, 700);
  const std::string_view texts[] = {text};
  PreparedText prepared;
  prepared.tokenizer = Tokenizer(TrainBpe(texts, 270));
  prepared.tokens = prepared.tokenizer.Encode(text);
  prepared.train_tokens = random.Below(prepared.tokens.size() + 1);
  prepared.data_hash = random.Bits64();
  prepared.split_hash = random.Bits64();
  return prepared;
}

std::string OpenError(const std::string& path) {
  return ErrorOf([&] { TokenShard shard(path); });
}

// The shard's bytes with `change` made to its header, with no checksum to match.
std::string WithHeader(std::string bytes, void (*change)(ShardHeader&)) {
  ShardHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  change(header);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

TEST_CASE("a shard gives back what was written", "[shard]") {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const PreparedText text = Example(seed);
    TokenShard::Write(folder / "s.tokens", text);
    const TokenShard shard(folder / "s.tokens");
    std::vector<std::uint32_t> tokens(shard.train().begin(), shard.train().end());
    REQUIRE(tokens.size() == text.train_tokens);
    tokens.insert(tokens.end(), shard.validation().begin(), shard.validation().end());
    REQUIRE(tokens == text.tokens);
    REQUIRE(shard.tokenizer() == text.tokenizer);
    REQUIRE(shard.data_hash() == text.data_hash);
    REQUIRE(shard.split_hash() == text.split_hash);
  }
}

TEST_CASE("a shard cut short or grown is refused", "[shard]") {
  const TemporaryFolder folder;
  TokenShard::Write(folder / "s.tokens", Example(1));
  const std::string whole = ReadFile(folder / "s.tokens");
  for (std::size_t size = 0; size < whole.size(); size += size < 80 ? 1 : 61) {
    CAPTURE(size);
    REQUIRE_THAT(OpenError(folder.Write("cut", whole.substr(0, size))), Contains("4: ") && Contains("cut"));
  }
  CHECK_THAT(OpenError(folder.Write("grown", whole + "x")), Contains("truncated or damaged"));
  CHECK_THAT(OpenError(folder.Write("text", std::string(1000, 'x'))), Contains("not a token shard"));
}

TEST_CASE("a shard with any bit flipped is refused", "[shard]") {
  const TemporaryFolder folder;
  TokenShard::Write(folder / "s.tokens", Example(2));
  std::string bytes = ReadFile(folder / "s.tokens");
  Stream random(3, "flips");
  for (int trial = 0; trial < 64 * 8 + 500; ++trial) {
    const std::size_t bit = trial < 64 * 8 ? trial : random.Below(8 * bytes.size());
    CAPTURE(bit);
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    REQUIRE_THAT(OpenError(folder.Write("flipped", bytes)), Contains("4: ") && Contains("flipped"));
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
  }
}

TEST_CASE("a damaged header is explained", "[shard]") {
  const TemporaryFolder folder;
  TokenShard::Write(folder / "s.tokens", Example(4));
  const std::string whole = ReadFile(folder / "s.tokens");
  const auto problem = [&](void (*change)(ShardHeader&)) {
    return OpenError(folder.Write("bad", WithHeader(whole, change)));
  };
  CHECK_THAT(problem([](ShardHeader& h) { h.version = 9; }), Contains("version 9, this program reads 1"));
  CHECK_THAT(problem([](ShardHeader& h) { h.tokens += 1; }), Contains("truncated or damaged"));
  CHECK_THAT(problem([](ShardHeader& h) { h.train_tokens = h.tokens + 1; }),
             Contains("truncated or damaged"));
  // A count whose size in bytes overflows to the true size.
  CHECK_THAT(problem([](ShardHeader& h) { h.tokens += std::uint64_t{1} << 62; }),
             Contains("truncated or damaged"));
}

TEST_CASE("a token beyond the vocabulary is refused with position and id", "[shard]") {
  const TemporaryFolder folder;
  PreparedText text = Example(5);
  text.tokens[123] = 270;
  TokenShard::Write(folder / "s.tokens", text);
  CHECK(OpenError(folder / "s.tokens") ==
        "4: " + (folder / "s.tokens") + ": token 270 at position 123 is beyond the vocabulary of 270");
}

}  // namespace
}  // namespace dark
