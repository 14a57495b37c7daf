#include "data/tokenizer.h"

#include <catch2/catch.hpp>

#include "data/bpe_trainer.h"
#include "data/chunks.h"
#include "data/token_counts.h"
#include "tests/data/generated.h"
#include "tests/temporary_folder.h"

namespace dark {
namespace {

using Catch::Contains;
using namespace std::string_literals;

Tokenizer Trained(const std::string& text, Index vocab) {
  const std::string_view texts[] = {text};
  return Tokenizer(TrainBpe(texts, vocab));
}

// Bytes that other tokenizers are known to change.
const std::vector<std::string> kHard = {
    ""s,
    "\0"s,
    "a\r\nb\rc\nd"s,
    "\t\ttabs \t  double  blanks   "s,
    "   leading"s,
    "trailing   "s,
    "\n\n\n \n"s,
    "\xEF\xBB\xBFwith BOM"s,
    "NUL\0in\0side"s,
    "nfc \xC3\xA9 nfd e\xCC\x81"s,
    "family \xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7"s,
    "compat \xEF\xB8\xB0 zero\xE2\x80\x8Bwidth"s,
    "invalid \xFF\xFE \xC3 \xC0\x80 \xED\xA0\x80"s,
    "\x80\x80\x80\x80"s,
    std::string(1000, 'x'),
    std::string(1000, ' '),
    std::string(1000, '\x80'),
};

TEST_CASE("decoding gives back any bytes", "[tokenizer]") {
  std::string training;
  for (const std::string& text : kHard) training += text + text;
  Stream random(1, "round trip");
  training += RandomProse(random, 4000);
  const Tokenizer tokenizers[] = {Tokenizer(), Trained(training, 450)};
  REQUIRE(tokenizers[0].vocab() == 256);
  REQUIRE(tokenizers[1].vocab() == 450);
  for (const Tokenizer& tokenizer : tokenizers) {
    for (const std::string& text : kHard) CHECK(tokenizer.Decode(tokenizer.Encode(text)) == text);
    CHECK(tokenizer.Decode(tokenizer.Encode(training)) == training);
    for (int trial = 0; trial < 500; ++trial) {
      const std::size_t size = random.Below(300);
      std::string text = trial % 2 == 0 ? RandomBytes(random, size) : RandomProse(random, size);
      if (trial % 3 == 0) text += kHard[random.Below(kHard.size())] + text;
      REQUIRE(tokenizer.Decode(tokenizer.Encode(text)) == text);
    }
  }
}

TEST_CASE("bytes are the byte tokens", "[tokenizer]") {
  REQUIRE(Tokenizer().Encode("a\xFF\n"s) == std::vector<std::uint32_t>{97, 255, 10});
}

TEST_CASE("a token beyond the vocabulary is named with its position", "[tokenizer]") {
  const std::vector<std::uint32_t> tokens = {1, 2, 256, 3};
  CHECK(ErrorOf([&] { Tokenizer().Decode(tokens); }) ==
        "2: token 256 at position 2 is beyond the vocabulary of 256");
}

TEST_CASE("merges must name earlier tokens, once", "[tokenizer]") {
  CHECK_THAT(ErrorOf([] { Tokenizer({{97, 98}, {257, 97}}); }), Contains("merge 1 joins token 257"));
  CHECK_THAT(ErrorOf([] { Tokenizer({{97, 98}, {97, 98}}); }), Contains("earlier merge"));
}

TEST_CASE("chunks laid end to end are the text, short and of one kind", "[chunks]") {
  Stream random(3, "chunks");
  std::vector<std::string> texts = kHard;
  for (int i = 0; i < 300; ++i) texts.push_back(RandomBytes(random, random.Below(200)));
  for (int i = 0; i < 300; ++i) texts.push_back(RandomProse(random, random.Below(200)));
  for (const std::string& text : texts) {
    std::string joined;
    ForEachChunk(text, [&](std::string_view chunk) {
      REQUIRE(!chunk.empty());
      REQUIRE(chunk.size() <= kMaxChunk);
      joined += chunk;
    });
    REQUIRE(joined == text);
  }
}

TEST_CASE("chunks of an example", "[chunks]") {
  std::vector<std::string> chunks;
  ForEachChunk("In  1611, the\n\n \"Word\"", [&](std::string_view chunk) { chunks.emplace_back(chunk); });
  CHECK(chunks == std::vector<std::string>{"In", " ", " 1611", ",", " the", "\n\n", " \"", "Word", "\""});
}

TEST_CASE("a long run of letters is cut between UTF-8 characters", "[chunks]") {
  std::string text = "x";
  for (int i = 0; i < 100; ++i) text += "\xE2\x82\xAC";  // the euro sign
  ForEachChunk(text, [&](std::string_view chunk) {
    CHECK((static_cast<unsigned char>(chunk.front()) & 0xC0) != 0x80);
    CHECK(chunk.size() <= kMaxChunk);
  });
}

TEST_CASE("a saved tokenizer comes back equal, whatever its bytes", "[tokenizer]") {
  const TemporaryFolder folder;
  Stream random(5, "save");
  std::string text;
  for (const std::string& hard : kHard) text += hard + hard;
  for (int i = 0; i < 3; ++i) text += RandomBytes(random, 2000);
  for (const Tokenizer& tokenizer : {Tokenizer(), Trained(text, 400)}) {
    tokenizer.Save(folder / "tokenizer.json");
    const Tokenizer again = Tokenizer::Load(folder / "tokenizer.json");
    REQUIRE(again == tokenizer);
    REQUIRE(again.Encode(text) == tokenizer.Encode(text));
    for (std::uint32_t token = 0; token < tokenizer.vocab(); ++token)
      REQUIRE(again.Bytes(token) == tokenizer.Bytes(token));
    REQUIRE(again.ToJson() == tokenizer.ToJson());
    for (const char byte : tokenizer.ToJson()) REQUIRE((byte >= ' ' && byte <= '~'));
  }
}

TEST_CASE("a damaged tokenizer is refused with its origin", "[tokenizer]") {
  const std::string json = Tokenizer({{97, 98}, {256, 99}}).ToJson();
  const auto problem = [](const std::string& text) {
    return ErrorOf([&] { Tokenizer::FromJson(text, "here.json"); });
  };
  REQUIRE(problem(json) == "nothing");
  for (std::size_t size = 0; size < json.size(); size += 13)
    REQUIRE_THAT(problem(json.substr(0, size)), Contains("4: here.json: bad tokenizer"));
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = json;
    text.replace(text.find(from), from.size(), to);
    return problem(text);
  };
  CHECK_THAT(replaced("[256,99]", "[258,99]"), Contains("merge 1 joins token 258"));
  CHECK_THAT(replaced("[256,99]", "[256,98]"), Contains("token 257 is listed as \"abc\""));
  CHECK_THAT(replaced("[256,99]", "[256,-1]"), Contains("here.json"));
  CHECK_THAT(replaced(",\"abc\"", ""), Contains("257 tokens listed, its merges give 258"));
  CHECK_THAT(replaced("\"version\":1", "\"version\":2"), Contains("version 2, this program reads 1"));
  CHECK_THAT(replaced("darkformer", "other"), Contains("not a darkformer tokenizer"));
  CHECK_THAT(problem("[]"), Contains("here.json"));
}

TEST_CASE("escaped bytes are one line of ASCII", "[tokenizer]") {
  CHECK(Escape("a\\b \n\x7F\xC3\xA9\0"s) == "a\\\\b \\x0a\\x7f\\xc3\\xa9\\x00");
}

TEST_CASE("token counts add up to the bytes of the text", "[tokenizer]") {
  Stream random(6, "counts");
  const std::string text = RandomProse(random, 3000);
  const Tokenizer tokenizer = Trained(text, 280);
  const auto tokens = tokenizer.Encode(text);
  const TokenCounts counts = CountTokens(tokens, tokenizer);
  CHECK(counts.bytes == 3000);
  const auto frequent = counts.MostFrequent(1000);
  CHECK(static_cast<Index>(frequent.size()) == counts.Used());
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < frequent.size(); ++i) {
    sum += counts.count[frequent[i]];
    if (i > 0) CHECK(counts.count[frequent[i - 1]] >= counts.count[frequent[i]]);
  }
  CHECK(sum == static_cast<std::int64_t>(tokens.size()));
}

}  // namespace
}  // namespace dark
