#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/error.h"
#include "experiments/run_file/describe.h"
#include "tests/run_file/helpers.h"

namespace dark {
namespace {

std::vector<std::string> LinesOf(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("CSV gives back every number") {
  const RunData run = SomeRun(40);
  const std::vector<std::string> lines = LinesOf(TableCsv(run, "steps"));
  REQUIRE(lines.size() == 41);
  CHECK(lines[0] ==
        "step,loss,lr,grad_norm,grad_norm_clipped,update_rms,param_norm,tokens,seconds,batch_hash");
  for (std::size_t i = 0; i < 40; ++i) {
    std::istringstream cells(lines[i + 1]);
    std::vector<std::string> values;
    for (std::string cell; std::getline(cells, cell, ',');) values.push_back(cell);
    REQUIRE(values.size() == 10);
    CHECK(std::stoll(values[0]) == run.steps[i].step);
    const double loss = std::stod(values[1]);
    CHECK((loss == run.steps[i].loss || (std::isnan(loss) && std::isnan(run.steps[i].loss))));
    CHECK(std::stod(values[5]) == run.steps[i].update_rms);
    CHECK(std::stoull(values[9]) == run.steps[i].batch_hash);
  }
  CHECK(LinesOf(TableCsv(run, "health")).size() == 1 + run.health.size());
  CHECK(LinesOf(TableCsv({}, "eval")).size() == 1);
}

TEST_CASE("an unknown table is refused with the nearest name") {
  try {
    TableCsv({}, "step");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.exit() == Exit::kUsage);
    CHECK(Contains(error.what(), "did you mean 'steps'?"));
  }
}

TEST_CASE("a description says how the run went") {
  RunData run = SomeRun(40);
  run.attributes["status"] = "diverged";
  run.attributes["exit_reason"] = "loss is not finite";
  run.attributes["bad_step"] = "38";
  run.attributes["bad_tensor"] = "layer.0.attn.q";
  run.attributes["config.train.steps"] = "400";
  const std::string text = DescribeRun(run, 3);
  CHECK(Contains(text, "diverged: loss is not finite (step 38, first bad tensor 'layer.0.attn.q')"));
  CHECK(Contains(text, "40 of 400, last loss "));
  const auto bad = std::count_if(run.steps.begin(), run.steps.end(),
                                 [](const StepRow& row) { return !std::isfinite(row.loss); });
  CHECK(Contains(text, std::to_string(bad) + " losses not finite"));
  CHECK(Contains(text, "optim.lr 0.001"));
  CHECK(Contains(text, "last steps (3 of 40 rows)"));
  CHECK(Contains(text, "health at the last measurement (2 of 8 rows)"));
  CHECK_FALSE(DescribeRun({}, 5).empty());
}

TEST_CASE("the page of the schema shows every column as declared") {
  const std::string page = ReadText(std::string(SOURCE_DIR) + "/docs/run-file.md");
  INFO("replace the tables of docs/run-file.md by the output of: darkformer inspect --schema");
  CHECK(Contains(page, SchemaMarkdown()));
}

}  // namespace
}  // namespace dark
