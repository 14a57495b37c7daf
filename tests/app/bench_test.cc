#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <sstream>
#include <vector>

#include "tests/app/shell.h"

namespace dark {
namespace {

using Catch::Contains;

std::string BenchCommand(const std::string& options) {
  return std::string(DARKFORMER) +
         " bench --set model.layers=1 --set model.width=32 --set model.heads=2 --set model.head_dim=16 "
         "--set model.ff=64 --vocab 64 --tokens 128 --seconds 0 " +
         options;
}
ShellResult Bench(const std::string& options) { return RunShell(BenchCommand(options)); }

std::vector<std::vector<std::string>> Rows(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream cells(line + ",");
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

TEST_CASE("bench prints the machine's limits, a line a case and where the time goes") {
  const ShellResult result =
      Bench("--variants exact,darkformer --contexts 32,64 --features 8,16 --threads 1");
  INFO(result.output);
  CHECK(result.code == 0);
  for (const char* part :
       {"FMA peak", "GB/s", "useful FLOPs", "% FMA", "% peak", "darkformer, T 64, m 16, fp32, 1 thread",
        "feature_attention", "softmax_attention", "adamw", "% of limit"})
    CHECK_THAT(result.output, Contains(part));
  CHECK_THAT(result.output, !Contains("nan") && !Contains("inf "));
}

TEST_CASE("bench counts the operations that its formula says") {
  const ShellResult result =
      Bench("--csv --variants exact,performer --contexts 64 --features 8 --precisions fp64");
  const auto rows = Rows(result.output);
  INFO(result.output);
  REQUIRE(rows.size() > 10);
  const auto flops = [&](const std::string& variant, const std::string& op) {
    for (const auto& row : rows)
      if (row[0] == variant && row[6] == op) return std::stod(row[11]);
    return -1.0;
  };
  const double tokens = 128, pairs = 2 * 2 * 64 * 65 / 2;  // 2 sequences, 2 heads
  const double linear =
      3 * 2 * tokens * 32 * (4 * 32 + 3 * 64.0);  // q, k, v, o and gate, up, down; three passes
  CHECK(flops("exact", "linear") == linear);
  CHECK(flops("exact", "cross_entropy") == 3 * 2 * tokens * 32 * 64);
  CHECK(flops("exact", "softmax_attention") == 3 * 2 * pairs * (16 + 16));
  CHECK(flops("performer", "feature_attention") == 3 * 2 * tokens * 2 * 2 * 8 * (16 + 16.0));
  CHECK(flops("exact", "step") ==
        linear + flops("exact", "cross_entropy") + flops("exact", "softmax_attention"));
  for (const auto& row : rows) CHECK(row.size() == rows[0].size());
}

TEST_CASE("bench times a run config as it stands") {
  const TemporaryFolder folder;
  const std::string config = folder.Write(
      "run.yaml",
      "data: {text: none}\nmodel: {layers: 1, width: 16, heads: 2}\nattention: {variant: lfk, m: 4}\n"
      "train: {context: 16, batch: 3, precision: fp64}\n");
  const ShellResult result = RunShell(std::string(DARKFORMER) + " bench --csv --seconds 0 " + config);
  INFO(result.output);
  CHECK(result.code == 0);
  CHECK_THAT(result.output, Contains("lfk,16,4,fp64,1,3,step,"));
}

TEST_CASE("bench times bf16 beside fp32 and counts each product against the peak of its instructions") {
  const ShellResult result = Bench("--variants exact --contexts 32 --precisions fp32,bf16");
  INFO(result.output);
  CHECK(result.code == 0);
  CHECK_THAT(result.output, Contains(" bf16; split fp32") && Contains("exact, T 32, m -, bf16, 1 thread"));
  // A step's percentage is that of its ops together, whichever peak counts for each.
  // In fp32 this model's products are split where the processor has tiles.
  const ShellResult csv = RunShell(
      std::string(DARKFORMER) +
      " bench --csv --variants exact,darkformer --contexts 64 --precisions fp32,bf16 --set model.layers=1 "
      "--set model.width=128 --set model.heads=2 --set model.ff=256 --vocab 128 --tokens 256 --seconds 0");
  INFO(csv.output);
  double step = 0, ops = 0;
  for (const auto& row : Rows(csv.output)) {
    if (row[6] == "op") continue;
    const double at_peak = std::stod(row[9]) * std::stod(row[14]);
    if (row[6] == "step") {
      CHECK(ops == Approx(step).epsilon(0.02));
      step = at_peak;
      ops = 0;
    } else {
      ops += at_peak;
    }
  }
  CHECK(step > 0);
  CHECK(ops == Approx(step).epsilon(0.02));
}

TEST_CASE("bench --rate prints a number a case and nothing else") {
  const ShellResult result = Bench("--rate --variants exact,darkformer --contexts 32 --features 8");
  INFO(result.output);
  CHECK(result.code == 0);
  std::istringstream numbers(result.output);
  double exact = 0, darkformer = 0;
  CHECK(numbers >> exact >> darkformer);
  CHECK(std::min(exact, darkformer) > 0);
  CHECK(numbers.get() == '\n');
  CHECK(numbers.get() == EOF);
  CHECK(Bench("--rate --csv").code == 2);
}

TEST_CASE("bench --in-turn times its case once for each line it reads") {
  const ShellResult result =
      RunShell("printf '\\n\\n' | " + BenchCommand("--in-turn --variants exact --contexts 32"));
  INFO(result.output);
  CHECK(result.code == 0);
  int answers = 0, steps = 0;
  for (const auto& row : Rows(result.output)) {
    if (row.size() == 1) ++answers;  // the empty line
    if (row[0] == "step" && std::stod(row[1]) > 0) ++steps;
  }
  CHECK(steps == 2);
  CHECK(answers == 2);
  const ShellResult two = Bench("--in-turn --variants exact,darkformer");
  CHECK(two.code != 0);
  CHECK_THAT(two.output, Contains("one case, not 2"));
}

TEST_CASE("bench refuses what it does not know before it times anything") {
  const ShellResult variant = Bench("--variants exact,performr");
  CHECK(variant.code == 2);
  CHECK_THAT(variant.output, Contains("performer") && !Contains("FMA peak"));
  CHECK(Bench("--contexts 0").code == 2);
  CHECK(Bench("--precisions fp16").code == 2);
  CHECK(Bench("--set model.widht=64").code == 2);
}

}  // namespace
}  // namespace dark
