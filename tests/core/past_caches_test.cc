#include "core/tensor/past_caches.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

namespace dark {

TEST_CASE("a copy past the caches writes what it was given and nothing beside it") {
  std::vector<std::uint16_t> from(200);
  std::iota(from.begin(), from.end(), std::uint16_t{1});
  for (const Index offset : {0, 1, 16, 32, 33}) {  // 0 and 32 are aligned to a register
    for (const Index count : {0, 1, 31, 32, 64, 97}) {
      alignas(64) std::uint16_t to[200] = {};
      CopyPastCaches(from.data(), count, to + offset);
      for (Index i = 0; i < 200; ++i)
        REQUIRE(to[i] == (i >= offset && i < offset + count ? i - offset + 1 : 0));
    }
  }
}

}  // namespace dark
