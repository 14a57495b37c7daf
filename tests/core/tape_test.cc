#include "core/tape/tape.h"

#include <catch2/catch.hpp>

namespace dark {

TEST_CASE("ops share scratch and keep what they ask to keep") {
  Tape<float> tape;
  float *first = nullptr, *beside = nullptr, *second = nullptr, *kept = nullptr, *kept_too = nullptr;
  tape.Scratch(&first, 100);
  tape.Scratch(&beside, 10);
  tape.Keep(&kept, 50);
  tape.Record(
      {"one", {}, {}}, {}, [] {}, [] {});
  tape.Scratch(&second, 40);
  tape.Keep(&kept_too, 50);
  tape.Record(
      {"two", {}, {}}, {}, [] {}, [] {});
  tape.Allocate();
  CHECK(first == second);
  CHECK(beside >= first + 100);
  CHECK(kept_too >= kept + 50);
  CHECK(tape.bytes() < (100 + 10 + 50 + 50 + 5 * 16) * sizeof(float));
}

}  // namespace dark
