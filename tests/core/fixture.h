#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/core/backward.h"
#include "tests/core/largest.h"

namespace dark::testing {

/// A file of tests/fixtures, made by make_fixtures.py with PyTorch in float64.
inline nlohmann::json LoadFixture(const std::string& name) {
  return nlohmann::json::parse(std::ifstream(std::string(SOURCE_DIR) + "/tests/fixtures/" + name + ".json"));
}

inline std::vector<double> Values(const nlohmann::json& array) {
  return array.at("data").get<std::vector<double>>();
}

/// Copies an array of the fixture into `to`.
inline void Load(const nlohmann::json& array, double* to) {
  const std::vector<double> values = Values(array);
  std::copy(values.begin(), values.end(), to);
}

/// The largest distance between an array of the fixture and `values`.
inline double Distance(const nlohmann::json& array, const double* values) {
  double worst = 0;
  const std::vector<double> expected = Values(array);
  for (std::size_t i = 0; i < expected.size(); ++i) worst = Largest(worst, std::abs(expected[i] - values[i]));
  return worst;
}

/// A tape in double for one op: `objective` records Σ dy∘y for the given dy, so that Backward gives the
/// fixture's gradients.
struct OpHarness {
  Parameters<double> parameters{1};
  Tape<double> tape;
  std::vector<double> dy;
  double objective = 0;

  Node<double>* Input(const std::string& name, Index rows, Index cols) {
    return parameters.AddNormal(name, rows, cols, 1);
  }
  void Objective(Node<double>* y, std::vector<double> direction) {
    dy = std::move(direction);
    tape.Record(
        {"test", {}, {}}, {y},
        [this, y] {
          objective = 0;
          for (std::size_t i = 0; i < dy.size(); ++i) objective += dy[i] * y->value[i];
        },
        [this, y] {
          y->StartGradient();
          for (std::size_t i = 0; i < dy.size(); ++i) y->grad[i] += dy[i];
        });
    parameters.Allocate();
    tape.Allocate();
  }
  void Run() {
    tape.Forward();
    Backward();
  }
  void Backward() { BackwardAnew(parameters, tape); }
};

}  // namespace dark::testing
