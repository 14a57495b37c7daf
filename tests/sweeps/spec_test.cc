#include "sweeps/spec.h"

#include <catch2/catch.hpp>

#include "core/error.h"
#include "sweeps/same_value.h"
#include "tests/temporary_folder.h"

namespace dark {
namespace {

std::string Complaint(const std::string& text) {
  try {
    ParseSpec(text, "s.yaml");
  } catch (const Error& error) {
    CHECK(error.exit() == Exit::kUsage);
    return error.what();
  }
  return "accepted";
}

TEST_CASE("a sweep file is read into axes, slowest first") {
  const SweepSpec spec = ParseSpec(
      "name: tiny\n"
      "base: {train: {steps: 10}}\n"
      "grid:\n"
      "  optim.lr: [1e-3, 3e-3]\n"
      "  attention:\n"
      "    - exact\n"
      "    - {variant: performer, m: [16, 64], draws: [iid, orthogonal]}\n"
      "zip:\n"
      "  train: {batch: [8, 16], context: [64, 32]}\n"
      "seeds: 3\n"
      "exclude:\n"
      "  - {attention: exact, optim: {lr: [1e-3, 3e-3]}}\n",
      "s.yaml");
  CHECK(spec.name == "tiny");
  REQUIRE(spec.axes.size() == 4);
  CHECK(spec.axes[0].points.size() == 2);
  CHECK(spec.axes[1].points.size() == 5);
  CHECK(spec.axes[2].points.size() == 2);
  CHECK(spec.axes[2].points[1].size() == 2);
  CHECK(spec.axes[2].points[1][1].key == "train.context");
  CHECK(spec.axes[3].points.size() == 3);
  REQUIRE(spec.exclude.size() == 1);
  CHECK(spec.exclude[0].conditions[0].key == "attention.variant");
  CHECK(spec.exclude[0].conditions[1].key == "optim.lr");
  CHECK(spec.exclude[0].conditions[1].values.size() == 2);
}

TEST_CASE("the name defaults to the file's, and a base may be a file beside the sweep") {
  const TemporaryFolder folder;
  folder.Write("base.yaml", "train: {steps: 7}\n");
  const SweepSpec spec = LoadSpec(folder.Write("my sweep.yaml", "base: base.yaml\n"));
  CHECK(spec.name == "my sweep");
  CHECK(spec.base.Find("train") != nullptr);
  CHECK(spec.text == "base: base.yaml\n");
}

TEST_CASE("mistakes in a sweep file are reported where they stand") {
  CHECK(Complaint("grids: {}\n") == "s.yaml:1:1: unknown key 'grids'; did you mean 'grid'?");
  CHECK(Complaint("a: 1\nparameters: {}\n") ==
        "s.yaml:1:1: unknown key 'a'; a sweep has name base grid zip seeds exclude");
  CHECK(Complaint("grid: {optim.lr: 1e-3}\n") ==
        "s.yaml:1:18: 'optim.lr' needs a list of values such as [1, 2], found '1e-3'");
  CHECK(Complaint("grid: {optim.lr: []}\n") ==
        "s.yaml:1:18: 'optim.lr' has an empty list: nothing would run");
  CHECK(Complaint("grid: {optim.lr: [1e-4, 0.0001]}\n") ==
        "s.yaml:1:25: 1e-4 and 0.0001 are the same value of 'optim.lr'");
  CHECK(Complaint("grid: {data.text: [a, b, a]}\n") == "s.yaml:1:26: 'a' is listed twice for 'data.text'");
  CHECK(Complaint("grid:\n  attention:\n    - {m: [1, 2]}\n") ==
        "s.yaml:3:7: an attention variant in a sweep needs the key 'variant'");
  CHECK(Complaint("grid: {attention: [{variant: performer, m: [16, 16.0]}]}\n") ==
        "s.yaml:1:49: 16 and 16.0 are the same value of 'attention.m'");
  CHECK(Complaint("zip: {optim.lr: [1, 2], train.batch: [1, 2, 3]}\n") ==
        "s.yaml:1:25: the lists in 'zip' go together: 'train.batch' has 3 values, 'optim.lr' has 2");
  CHECK(Complaint("seeds: 0\n") ==
        "s.yaml:1:8: 'seeds' needs a count from 1 to 10000 or a list of seeds, found '0'");
  CHECK(Complaint("seeds: {a: 1}\n") ==
        "s.yaml:1:8: 'seeds' needs a count from 1 to 10000 or a list of seeds, found a map");
  CHECK(Complaint("seeds: 2\ngrid: {seed: [1]}\n") ==
        "s.yaml:1:1: 'seed' is varied here and as 'seed' at s.yaml:2:8");
  CHECK(Complaint("grid: {attention: [exact], attention.m: [4]}\n") ==
        "s.yaml:1:28: 'attention.m' is varied here and as 'attention' at s.yaml:1:8");
  CHECK(Complaint("exclude: [{optim.lrr: 1}]\n") ==
        "s.yaml:1:12: unknown key 'optim.lrr'; did you mean 'optim.lr'?");
  CHECK(Complaint("exclude: {optim.lr: 1}\n") == "s.yaml:1:10: 'exclude' needs a list of maps, found a map");
  CHECK(Complaint("name: a/b\n") == "s.yaml:1:7: 'name' needs a folder's name, found 'a/b'");
  CHECK(Complaint("- a\n") == "s.yaml: a sweep is a map, found a list");
  CHECK(Complaint("base: missing.yaml\n") == "s.yaml:1:7: no file missing.yaml");
}

TEST_CASE("values compare as numbers where both are numbers") {
  CHECK(SameValue("1e-4", "0.0001"));
  CHECK(SameValue("+16", "16.0"));
  CHECK_FALSE(SameValue("0.30000000000000004", "0.3"));
  CHECK(SameValue("exact", "exact"));
  CHECK_FALSE(SameValue("exact", "1"));
  CHECK_FALSE(SameValue("nan", "1"));
}

}  // namespace
}  // namespace dark
