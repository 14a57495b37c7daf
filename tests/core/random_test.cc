#include "core/random.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <vector>

namespace dark {

TEST_CASE("a stream is restored by its position and differs by seed, name and index") {
  Stream a(1, "data", 3);
  for (int i = 0; i < 11; ++i) a.Bits();
  Stream b(1, "data", 3);
  b.Seek(a.position());
  for (int i = 0; i < 100; ++i) CHECK(a.Bits() == b.Bits());
  std::set<std::uint64_t> first;
  for (const std::uint64_t seed : {0, 1, 2}) {
    for (const char* name : {"data", "init/embed", "omega/layer.0/0", "omega/layer.0/1", "omega/layer.1/0"}) {
      for (std::uint64_t index = 0; index < 50; ++index) first.insert(Stream(seed, name, index).Bits64());
    }
  }
  CHECK(first.size() == 3 * 5 * 50);
}

TEST_CASE("normals have the moments of N(0, 1), uniforms stay inside (0, 1), Below is even") {
  Stream stream(1, "moments");
  std::vector<double> values(200000);
  stream.Normals(std::span(values));
  double sum = 0, square = 0, fourth = 0;
  for (const double v : values) {
    sum += v;
    square += v * v;
    fourth += v * v * v * v;
  }
  const auto n = static_cast<double>(values.size());
  CHECK(std::abs(sum / n) < 4 / std::sqrt(n));
  CHECK(std::abs(square / n - 1) < 4 * std::sqrt(2 / n));
  CHECK(std::abs(fourth / n - 3) < 4 * std::sqrt(96 / n));
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) {
    const double u = stream.Uniform();
    REQUIRE((u > 0 && u < 1));
    ++counts[stream.Below(7)];
  }
  for (const int count : counts) CHECK(std::abs(count - 10000) < 4 * std::sqrt(10000.0));
}

}  // namespace dark
