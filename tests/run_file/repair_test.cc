#include <catch2/catch.hpp>

#include "experiments/run_file/repair.h"
#include "experiments/run_file/run_file.h"
#include "tests/run_file/helpers.h"

namespace dark {
namespace {

TEST_CASE("a run is found by file, journal or directory") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  CHECK(RunPathOf(folder.path()) == folder.path());
  WriteRun(path, SomeRun(1));
  CHECK(RunPathOf(folder.path()) == path);
  CHECK(RunPathOf(path) == path);
  CHECK(RunPathOf(path + ".journal") == path);
}

TEST_CASE("repair of a folder mends the dead, leaves the living and goes on after a failure") {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b", "c", "d"}) std::filesystem::create_directory(folder / name);
  const auto leave = [&](const std::string& path) {
    RunWriter writer = RunWriter::Create(path, {});
    writer.Append(StepAt(0));
  };
  leave(folder / "a/run.h5");
  leave(folder / "b/run.h5");
  leave(folder / "d/run.h5");
  WriteText(folder / "c/run.h5.journal", "no journal");
  const RunLock alive(folder / "b");
  const std::vector<Repair> repairs = RepairAll({folder.path()});
  REQUIRE(repairs.size() == 4);
  CHECK(repairs[0].path == folder / "a/run.h5");
  CHECK(repairs[0].outcome == Repair::Outcome::kRepaired);
  CHECK(repairs[1].outcome == Repair::Outcome::kAlive);
  CHECK(repairs[2].outcome == Repair::Outcome::kFailed);
  for (const Repair& repair : repairs) CHECK(repair.message.find(repair.path) == 0);
  CHECK(repairs[3].outcome == Repair::Outcome::kRepaired);
  CHECK(RepairAll({folder / "a"}).at(0).outcome == Repair::Outcome::kWhole);
  CHECK(RepairAll({folder / "nothing"}).at(0).outcome == Repair::Outcome::kFailed);
}

}  // namespace
}  // namespace dark
