#include <catch2/catch.hpp>

#include "experiments/run_file/columns.h"
#include "experiments/run_file/journal.h"
#include "experiments/run_file/run_file.h"
#include "experiments/run_file/run_hdf5.h"
#include "tests/run_file/helpers.h"

namespace dark {
namespace {

std::size_t RowCount(const RunData& run) { return run.steps.size() + run.evals.size() + run.health.size(); }

bool Exists(const std::string& path) { return std::filesystem::exists(path); }

TEST_CASE("columns stand in the order of the members, one each 8 bytes") {
  ForEachTable([]<class Row>(const Table<Row>& table) {
    Row row;
    REQUIRE(table.columns.size() * 8 == sizeof(Row));
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      std::visit(
          [&](auto member) {
            CHECK(reinterpret_cast<char*>(&(row.*member)) - reinterpret_cast<char*>(&row) ==
                  static_cast<std::ptrdiff_t>(8 * i));
          },
          table.columns[i].member);
  });
}

TEST_CASE("status names go both ways, others are refused") {
  for (const auto status :
       {RunStatus::kRunning, RunStatus::kDone, RunStatus::kDiverged, RunStatus::kFailed, RunStatus::kStopped})
    CHECK(RunStatusFromName(Name(status)) == status);
  CHECK(FailureOf([] { RunStatusFromName("gone"); }) == "unknown run status 'gone'");
}

TEST_CASE("HDF5 gives back every bit, at sizes around a chunk") {
  const TemporaryFolder folder;
  for (const std::int64_t steps : {0, 1, 2, 255, 256, 257, 8191, 8192, 8193}) {
    const RunData run = SomeRun(steps);
    WriteRun(folder / "run.h5", run);
    CHECK(SameRun(ReadRun(folder / "run.h5"), run));
  }
  CHECK(folder.Temporaries() == 0);
}

TEST_CASE("equal runs make equal files") {
  const TemporaryFolder folder;
  WriteRun(folder / "a.h5", SomeRun(300));
  WriteRun(folder / "b.h5", SomeRun(300));
  CHECK(ReadText(folder / "a.h5") == ReadText(folder / "b.h5"));
}

TEST_CASE("a journal gives back every bit, row by row around the flush size") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  RunWriter writer = RunWriter::Create(path, {{"name", "a"}});
  for (std::int64_t step = 0; step < 600; ++step) {
    writer.Append(StepAt(step));
    if (step % 10 == 0) writer.Append(EvalAt(step));
    if (step % 10 == 0) writer.Append(HealthAt(step, 1));
    if (step == 0 || step == 254 || step == 255 || step == 256) {
      writer.Flush();
      CHECK(SameRun(ReadRun(path), writer.data()));
    }
  }
  const RunData flushed = ReadRun(path);  // nobody called Flush since step 256
  CHECK(flushed.steps.size() > 257);
  CHECK(RowCount(writer.data()) - RowCount(flushed) < 256);
  CHECK(ReadRunHdf5(path).steps.empty());
  writer.Snapshot();
  CHECK(SameRun(ReadRunHdf5(path), writer.data()));
}

TEST_CASE("Finish leaves one file that holds everything") {
  const TemporaryFolder folder(TemporaryFolder::On::kDisk);
  const std::string path = folder / "run.h5";
  RunWriter writer = RunWriter::Create(path, {{"name", "a"}, {"bad_step", "1"}});
  writer.Append(StepAt(0));
  writer.SetAttribute("bad_step", "7");
  writer.SetAttribute("bad_tensor", "layer.0.attn.q");
  writer.Finish(RunStatus::kDiverged, "loss is not finite");
  CHECK_FALSE(Exists(JournalPath(path)));
  const RunData run = ReadRun(path);
  CHECK(SameRun(run, writer.data()));
  CHECK(run.status() == RunStatus::kDiverged);
  CHECK(run.attributes.at("exit_reason") == "loss is not finite");
  CHECK(run.attributes.at("bad_step") == "7");
  CHECK(run.attributes.at("finished").size() == 20);
  CHECK(FailureOf([&] { writer.Append(StepAt(1)); }).find(path) == 0);
}

TEST_CASE("a stopped run keeps its journal and resumes from a kept prefix") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  const RunData whole = SomeRun(100);
  {
    RunWriter writer = RunWriter::Create(path, {});
    for (const StepRow& row : whole.steps) writer.Append(row);
    for (const EvalRow& row : whole.evals) writer.Append(row);
    for (const HealthRow& row : whole.health) writer.Append(row);
    writer.SetAttribute("bad_step", "99");
    writer.Finish(RunStatus::kStopped, "signal");
  }
  CHECK(Exists(JournalPath(path)));
  const bool repaired = GENERATE(false, true);
  if (repaired) CHECK(RepairRun(path));
  for (const std::int64_t keep : {100, 50, 10, 0}) {
    RunWriter writer = RunWriter::Resume(path, keep);
    const RunData run = ReadRun(path);
    CHECK(run.status() == RunStatus::kRunning);
    CHECK(run.attributes.count("exit_reason") + run.attributes.count("bad_step") == 0);
    CHECK(run.steps.size() == static_cast<std::size_t>(keep));
    for (const EvalRow& row : run.evals) CHECK(row.step <= keep);
    CHECK(run.evals.size() == static_cast<std::size_t>(std::min<std::int64_t>(keep / 10 + 1, 10)));
    // An evaluation at `keep` came before step `keep`; the health of that step is not yet known.
    for (const HealthRow& row : run.health) CHECK(row.step < keep);
    CHECK(run.health.size() == 2 * static_cast<std::size_t>(std::min<std::int64_t>((keep + 9) / 10, 10)));
    CHECK(SameRun(ReadRunHdf5(path), run));
  }
}

TEST_CASE("Create replaces what a former run left, finished or not") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  const bool finished = GENERATE(true, false);
  {
    RunWriter former = RunWriter::Create(path, {{"name", "former"}, {"only_former", "1"}});
    former.Append(StepAt(0));
    if (finished) former.Finish(RunStatus::kDone, "");
  }
  RunWriter writer = RunWriter::Create(path, {{"name", "new"}});
  CHECK(ReadRun(path).steps.empty());
  CHECK(ReadRun(path).attributes.count("only_former") == 0);
  CHECK(SameRun(ReadRunHdf5(path), ReadRun(path)));
}

TEST_CASE("snapshots of a long run at a fixed interval cost linear time") {
  const TemporaryFolder folder;
  RunWriter writer = RunWriter::Create(folder / "run.h5", {});
  const StepRow row = StepAt(0);
  std::uintmax_t written = 0;
  auto last = std::filesystem::last_write_time(folder / "run.h5");
  for (int step = 0; step < 30000; ++step) {
    writer.Append(row);
    if (step % 500 != 0) continue;
    writer.Snapshot();
    const auto now = std::filesystem::last_write_time(folder / "run.h5");
    if (now != last) written += std::filesystem::file_size(folder / "run.h5");
    last = now;
  }
  writer.Finish(RunStatus::kDone, "");
  CHECK(ReadRun(folder / "run.h5").steps.size() == 30000);
  CHECK(written < 15 * std::filesystem::file_size(folder / "run.h5"));
}

TEST_CASE("attributes with NUL bytes are refused before anything is written") {
  const TemporaryFolder folder;
  const std::string text("a\0b", 3);
  CHECK_FALSE(FailureOf([&] { RunWriter::Create(folder / "run.h5", {{"x", text}}); }).empty());
  CHECK_FALSE(Exists(folder / "run.h5"));
  RunWriter writer = RunWriter::Create(folder / "run.h5", {});
  CHECK_FALSE(FailureOf([&] { writer.SetAttribute("x", text); }).empty());
  writer.Finish(RunStatus::kDone, "");
  CHECK(ReadRun(folder / "run.h5").attributes.count("x") == 0);
}

}  // namespace
}  // namespace dark
