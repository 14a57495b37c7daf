#include "data/content_hash.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <set>

#include "tests/data/generated.h"

namespace dark {
namespace {

TEST_CASE("the content hash sees every bit, the length and the seed", "[hash]") {
  Stream random(1, "hash");
  std::set<std::uint64_t> hashes;
  std::size_t texts = 0;
  double changed_bits = 0;
  for (std::size_t size = 0; size <= 100; ++size) {
    std::string text = RandomBytes(random, size);
    const std::uint64_t hash = ContentHash(text);
    REQUIRE(ContentHash(text) == hash);
    REQUIRE(ContentHash(text, 1) != hash);
    REQUIRE(ContentHash(text + '\0') != hash);
    hashes.insert(hash);
    ++texts;
    for (std::size_t bit = 0; bit < 8 * size; ++bit, ++texts) {
      text[bit / 8] ^= static_cast<char>(1 << bit % 8);
      hashes.insert(ContentHash(text));
      changed_bits += std::popcount(hash ^ ContentHash(text));
      text[bit / 8] ^= static_cast<char>(1 << bit % 8);
    }
  }
  REQUIRE(hashes.size() == texts);
  // About half of the 64 bits change with one bit of the text; 40400 flips give a mean within 0.1 of 32.
  REQUIRE(changed_bits / static_cast<double>(texts - 101) == Approx(32).margin(0.1));
}

TEST_CASE("a hash does not depend on how the bytes are cut", "[hash]") {
  Stream random(2, "parts");
  for (int round = 0; round < 300; ++round) {
    const std::string text = RandomBytes(random, random.Below(200));
    const std::uint64_t seed = random.Below(3);
    ContentHasher hasher(seed);
    std::size_t done = 0;
    while (done < text.size()) {
      const std::size_t size = std::min<std::size_t>(random.Below(70), text.size() - done);
      hasher.Add(std::string_view(text).substr(done, size));
      done += size;
    }
    REQUIRE(hasher.Value() == ContentHash(text, seed));
  }
}

TEST_CASE("swapped words and runs of zeros hash apart", "[hash]") {
  std::set<std::uint64_t> hashes;
  for (std::size_t size = 0; size < 300; ++size) hashes.insert(ContentHash(std::string(size, '\0')));
  REQUIRE(hashes.size() == 300);
  const std::string a(8, 'a'), b(8, 'b'), c(16, 'c');
  REQUIRE(ContentHash(a + b + c) != ContentHash(b + a + c));
  REQUIRE(ContentHash(c + a + b) != ContentHash(c + b + a));
}

TEST_CASE("the content hash stays what it is: caches and recorded runs depend on it", "[hash]") {
  CHECK(Hex(ContentHash("")) == "35f16c08175e3507");
  CHECK(Hex(ContentHash("In the beginning God created the heaven and the earth.")) == "a7c5b109a48c43cf");
  CHECK(Hex(0x1F) == "000000000000001f");
}

}  // namespace
}  // namespace dark
