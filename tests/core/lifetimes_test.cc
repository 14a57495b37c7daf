#include "core/tape/lifetimes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

namespace dark {
namespace {

bool Meet(Index begin, Index end, Index other_begin, Index other_end) {
  return begin < other_end && other_begin < end;
}

TEST_CASE("blocks that are needed at the same step do not overlap, and others share memory") {
  std::mt19937 random(5);
  const auto below = [&](int limit) { return static_cast<Index>(random() % static_cast<unsigned>(limit)); };
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> blocks(1 + static_cast<std::size_t>(below(40)));
    Index total = 0;
    for (Lifetime& block : blocks) {
      block.first = below(30);
      block.last = block.first + below(8);
      block.size = 1 + below(100);
      total += block.size;
    }
    const std::vector<Index> offsets = PlaceByLifetime(blocks);
    REQUIRE(offsets.size() == blocks.size());
    Index most = 0, end = 0;
    for (Index step = 0; step < 40; ++step) {
      Index needed = 0;
      for (const Lifetime& block : blocks)
        needed += block.first <= step && step <= block.last ? block.size : 0;
      most = std::max(most, needed);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      REQUIRE(offsets[i] >= 0);
      end = std::max(end, offsets[i] + blocks[i].size);
      for (std::size_t j = 0; j < i; ++j) {
        if (!Meet(blocks[i].first, blocks[i].last + 1, blocks[j].first, blocks[j].last + 1)) continue;
        REQUIRE_FALSE(Meet(offsets[i], offsets[i] + blocks[i].size, offsets[j], offsets[j] + blocks[j].size));
      }
    }
    CHECK(end >= most);
    CHECK(end <= total);
  }
}

TEST_CASE("a chain of blocks, each needed with the next, takes the memory of two") {
  std::vector<Lifetime> chain;
  for (Index i = 0; i < 20; ++i) chain.push_back({i, i + 1, 10});
  const std::vector<Index> offsets = PlaceByLifetime(chain);
  CHECK(*std::max_element(offsets.begin(), offsets.end()) == 10);
}

}  // namespace
}  // namespace dark
