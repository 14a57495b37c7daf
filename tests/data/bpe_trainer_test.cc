#include "data/bpe_trainer.h"

#include <catch2/catch.hpp>
#include <ctime>
#include <map>

#include "data/chunks.h"
#include "tests/data/generated.h"

namespace dark {
namespace {

using Tokens = std::vector<std::uint32_t>;

std::vector<Tokens> ChunksAsBytes(const std::vector<std::string_view>& texts) {
  std::vector<Tokens> chunks;
  for (const std::string_view text : texts)
    ForEachChunk(text, [&](std::string_view chunk) { chunks.push_back(Tokenizer().Encode(chunk)); });
  return chunks;
}

Tokens Joined(const Tokens& tokens, const Merge& merge, std::uint32_t joined) {
  Tokens result;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool match = i + 1 < tokens.size() && Merge{tokens[i], tokens[i + 1]} == merge;
    result.push_back(match ? joined : tokens[i]);
    i += match;
  }
  return result;
}

// The definition itself: at each step count all pairs anew; std::map's order breaks ties.
std::vector<Merge> TrainByDefinition(std::vector<Tokens> chunks, Index vocab) {
  std::vector<Merge> merges;
  for (auto token = 256u; token < vocab; ++token) {
    std::map<Merge, int> counts;
    for (const Tokens& chunk : chunks)
      for (std::size_t i = 1; i < chunk.size(); ++i) ++counts[{chunk[i - 1], chunk[i]}];
    std::pair<Merge, int> best{{}, 1};
    for (const auto& pair : counts)
      if (pair.second > best.second) best = pair;
    if (best.second < 2) break;
    merges.push_back(best.first);
    for (Tokens& chunk : chunks) chunk = Joined(chunk, best.first, token);
  }
  return merges;
}

TEST_CASE("the trainer finds the merges of the definition", "[bpe]") {
  Stream random(1, "bpe");
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < 1 + random.Below(3); ++i)
      texts.push_back(trial % 4 == 0 ? RandomBytes(random, random.Below(2000))
                                     : RandomProse(random, random.Below(1500)));
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    const Index vocab = 257 + static_cast<Index>(random.Below(60));
    const auto merges = TrainBpe(views, vocab);
    REQUIRE(merges == TrainByDefinition(ChunksAsBytes(views), vocab));
    REQUIRE(static_cast<Index>(merges.size()) <= vocab - 256);
  }
}

TEST_CASE("encoding applies the merges in the order learnt", "[bpe]") {
  Stream random(2, "bpe encode");
  const std::string text = RandomProse(random, 5000);
  const std::vector<std::string_view> views = {text};
  const Tokenizer tokenizer(TrainBpe(views, 320));
  for (int trial = 0; trial < 100; ++trial) {
    const std::string other = RandomProse(random, 200);
    Tokens expected;
    for (Tokens chunk : ChunksAsBytes({other})) {
      for (std::size_t i = 0; i < tokenizer.merges().size(); ++i)
        chunk = Joined(chunk, tokenizer.merges()[i], static_cast<std::uint32_t>(256 + i));
      expected.insert(expected.end(), chunk.begin(), chunk.end());
    }
    REQUIRE(tokenizer.Encode(other) == expected);
  }
}

TEST_CASE("of equally frequent pairs the lowest is joined first", "[bpe]") {
  const std::string_view texts[] = {"zy zy ba ba"};  // twice each: "zy", " b", "ba"
  CHECK(TrainBpe(texts, 300) == std::vector<Merge>{{' ', 'b'}, {'z', 'y'}, {256, 'a'}});
}

TEST_CASE("a text without repeated pairs gives a smaller vocabulary", "[bpe]") {
  const std::string_view texts[] = {"abc", "", "def"};
  CHECK(TrainBpe(texts, 1000).empty());
  CHECK(TrainBpe({}, 1000).empty());
}

TEST_CASE("text without blanks costs no more than prose", "[bpe]") {
  const std::clock_t start = std::clock();
  Stream random(3, "no blanks");
  std::string text = std::string(500'000, 'a');
  for (int i = 0; i < 500'000; ++i) text += "abcd"[random.Below(4)];
  const std::string_view texts[] = {text};
  const Tokenizer tokenizer(TrainBpe(texts, 300));
  CHECK(tokenizer.Decode(tokenizer.Encode(text)) == text);
  // Processor time: 0.3 s here; quadratic work on one chunk of a million bytes would take minutes.
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 10);
}

}  // namespace
}  // namespace dark
