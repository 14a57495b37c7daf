#include <catch2/catch.hpp>

#include <sstream>

#include <fmt/format.h>

#include "experiments/run_file/run_file.h"
#include "tests/run_file/helpers.h"

namespace dark {
namespace {

int Shell(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string Script(const char* name) {
  return fmt::format("{} {}/tests/run_file/{}", PYTHON, SOURCE_DIR, name);
}

/// A number as Python prints it, read back; Python has no sign for NaN.
double Number(const std::string& text) { return std::stod(text); }

TEST_CASE("h5py and pandas read what was written, bit for bit") {
  const TemporaryFolder folder;
  const RunData run = SomeRun(100);
  WriteRun(folder / "run.h5", run);
  REQUIRE(Shell(fmt::format("{} {} > {}", Script("h5py_test.py"), folder / "run.h5", folder / "rows")) == 0);
  std::istringstream rows(ReadText(folder / "rows"));
  std::string step, loss, lr, grad_norm, clipped, update_rms, param_norm, tokens, seconds, hash;
  std::size_t count = 0;
  for (const StepRow& row : run.steps) {
    REQUIRE(rows >> step >> loss >> lr >> grad_norm >> clipped >> update_rms >> param_norm >> tokens >>
            seconds >> hash);
    ++count;
    CHECK(std::stoll(step) == row.step);
    CHECK((Number(loss) == row.loss || (row.loss != row.loss && loss == "nan")));
    CHECK(Number(lr) == row.lr);
    CHECK(Number(grad_norm) == row.grad_norm);
    CHECK(Number(clipped) == row.grad_norm_clipped);
    CHECK(Number(update_rms) == row.update_rms);
    CHECK(Number(param_norm) == row.param_norm);
    CHECK(std::stoll(tokens) == row.tokens);
    CHECK(Number(seconds) == row.seconds);
    CHECK(std::stoull(hash) == row.batch_hash);
  }
  CHECK(count == 100);
  CHECK_FALSE(rows >> step);
}

TEST_CASE("a run file edited with h5py is still a run file") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  RunData run = SomeRun(100);
  WriteRun(path, run);
  REQUIRE(Shell(fmt::format("{} {}", Script("h5py_edit.py"), path)) == 0);
  run.attributes["note"] = "seen";
  CHECK(SameRun(ReadRun(path), run));
}

TEST_CASE("h5dump reads a run file") {
  if (Shell("command -v h5dump > /dev/null") != 0) {
    WARN("h5dump is not installed");
    return;
  }
  const TemporaryFolder folder;
  WriteRun(folder / "run.h5", SomeRun(100));
  CHECK(Shell(fmt::format("h5dump {} > {} 2>&1", folder / "run.h5", folder / "dump")) == 0);
  CHECK(ReadText(folder / "dump").find("DATASET \"batch_hash\"") != std::string::npos);
}

}  // namespace
}  // namespace dark
