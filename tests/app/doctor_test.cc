#include <catch2/catch.hpp>
#include <fstream>

#include "tests/app/shell.h"

namespace dark {
namespace {

using Catch::Contains;

// A clean environment, so that the machine that tests cannot decide the outcome.
const std::string kClean =
    "env -u OMP_NUM_THREADS -u GOMP_CPU_AFFINITY -u OMP_PLACES -u HDF5_USE_FILE_LOCKING ";

ShellResult Doctor(const std::string& environment, const std::string& folder) {
  return RunShell(kClean + environment + " " DARKFORMER " doctor '" + folder + "'");
}

/// The level of the first line about `subject`, "" when there is none.
std::string Level(const ShellResult& result, const std::string& subject) {
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string level;
    std::string word;
    if (words >> level >> word && word == subject) return level;
  }
  return "";
}

TEST_CASE("doctor looks at everything a run depends on and leaves nothing behind") {
  const TemporaryFolder folder;
  const ShellResult result = Doctor("LC_ALL=C", folder.path());
  INFO(result.output);
  CHECK(result.code == 0);
  for (const char* subject :
       {"build", "simd", "cores", "threads", "memory", "disk", "cache", "locks", "hdf5", "locale", "gnuplot"})
    CHECK(Level(result, subject) != "");
  CHECK(Level(result, "simd") != "fail");
  CHECK(Level(result, "locks") == "ok");
  CHECK(Level(result, "threads") == "ok");
  CHECK(Level(result, "hdf5") == "ok");
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("doctor exits with 4 when runs cannot be written") {
  const TemporaryFolder folder;
  const ShellResult result = Doctor("", folder.path() + "/missing");
  INFO(result.output);
  CHECK(result.code == 4);
  CHECK(Level(result, "disk") == "fail");
  CHECK(Level(result, "locks") == "fail");
  CHECK_THAT(result.output, Contains("No such file or directory"));
}

TEST_CASE("doctor names each variable that changes how runs behave, without failing") {
  const TemporaryFolder folder;
  const char* const variables[][2] = {
      {"OMP_NUM_THREADS=100000", "threads"},   {"GOMP_CPU_AFFINITY=0", "threads"},
      {"OMP_PLACES=cores", "threads"},         {"OMP_WAIT_POLICY=active", "threads"},
      {"HDF5_USE_FILE_LOCKING=FALSE", "hdf5"},
  };
  for (const auto& [setting, subject] : variables) {
    const ShellResult result = Doctor(setting, folder.path());
    INFO(result.output);
    CHECK(result.code == 0);
    CHECK(Level(result, subject) == "warn");
    CHECK_THAT(result.output, Contains(setting));
  }
}

TEST_CASE("doctor says which package is missing for figures") {
  const TemporaryFolder empty;
  const ShellResult result = Doctor("PATH=" + empty.path(), empty.path());
  CHECK(Level(result, "gnuplot") == "warn");
  CHECK_THAT(result.output, Contains("gnuplot-nox"));
}

TEST_CASE("doctor refuses what it does not know") {
  CHECK(RunShell(DARKFORMER " doctor --folder").code == 2);
  CHECK(RunShell(DARKFORMER " doctor a b").code == 2);
}

}  // namespace
}  // namespace dark
