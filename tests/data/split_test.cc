#include "data/split.h"

#include <catch2/catch.hpp>
#include <set>

#include "data/content_hash.h"
#include "tests/data/generated.h"

namespace dark {
namespace {

std::size_t Bytes(const std::vector<std::string_view>& pieces) {
  std::size_t size = 0;
  for (const auto piece : pieces) size += piece.size();
  return size;
}

TEST_CASE("the pieces of a split are the text, in order, in the shares asked for", "[split]") {
  Stream random(1, "split test");
  for (int trial = 0; trial < 400; ++trial) {
    const std::string text = RandomBytes(random, 1 + random.Below(trial % 2 == 0 ? 300 : 200'000));
    const double fraction = 0.0001 + 0.8999 * random.Uniform();
    const Split split = SplitText(text, ContentHash(text), fraction);
    CAPTURE(text.size(), fraction);
    REQUIRE(std::abs(static_cast<double>(Bytes(split.validation)) - fraction * text.size()) <= 0.5001);

    // Merge both lists by address: they must tile the text.
    const char* at = text.data();
    std::size_t train = 0, validation = 0;
    while (train < split.train.size() || validation < split.validation.size()) {
      const bool from_train = train < split.train.size() && split.train[train].data() == at;
      if (!from_train) {
        REQUIRE(validation < split.validation.size());
        REQUIRE(split.validation[validation].data() == at);
      }
      const std::string_view piece = from_train ? split.train[train++] : split.validation[validation++];
      REQUIRE(!piece.empty());
      at += piece.size();
    }
    REQUIRE(at == text.data() + text.size());
  }
}

TEST_CASE("the split depends on content and fraction and on nothing else", "[split]") {
  Stream random(2, "split hash");
  const std::string text = RandomBytes(random, 300'000);
  const std::string copy = text;
  const Split split = SplitText(text, ContentHash(text), 0.1);
  REQUIRE(SplitText(copy, ContentHash(copy), 0.1).hash == split.hash);
  REQUIRE(split.validation.size() == 7);  // 30000 held-out bytes, at least 4096 in a place
  std::set<std::uint64_t> hashes = {split.hash};
  for (const double fraction : {0.05, 0.0999, 0.2, 0.9})
    hashes.insert(SplitText(text, ContentHash(text), fraction).hash);
  std::string other = text;
  for (const std::size_t at : {0, 150'000, 299'999}) {
    other[at] ^= 1;
    hashes.insert(SplitText(other, ContentHash(other), 0.1).hash);
  }
  REQUIRE(hashes.size() == 8);
}

TEST_CASE("long texts are held out in 16 places, one in each stretch", "[split]") {
  const std::string text(1'600'000, 'x');
  const Split split = SplitText(text, 7, 0.1);
  REQUIRE(split.validation.size() == 16);
  for (std::size_t i = 0; i < 16; ++i) {
    const auto start = static_cast<std::size_t>(split.validation[i].data() - text.data());
    CHECK(split.validation[i].size() == 10'000);
    CHECK(start >= i * 100'000);
    CHECK(start + 10'000 <= (i + 1) * 100'000);
  }
}

}  // namespace
}  // namespace dark
