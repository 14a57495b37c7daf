#include "core/tape/tape.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "core/tape/gradient_check.h"
#include "core/tape/parameters.h"

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

TEST_CASE("the check of gradients does not pass over a NaN, wherever it stands") {
  Parameters<double> parameters(1);
  Node<double>* x = parameters.AddNormal("x", 1, 3, 1);
  parameters.Allocate();
  const auto worst = [&](Index bad) {
    const auto loss = [&] { return x->Value().sum(); };
    const auto backward = [&] {
      x->Grad().setOnes();
      if (bad >= 0) x->grad[bad] = std::numeric_limits<double>::quiet_NaN();
    };
    return CheckGradients(loss, backward, {x});
  };
  CHECK(worst(-1).error < 1e-9);
  for (const Index bad : {0, 1, 2}) {
    CHECK(std::isnan(worst(bad).error));
    CHECK(worst(bad).element == bad);
  }
}

}  // namespace dark
