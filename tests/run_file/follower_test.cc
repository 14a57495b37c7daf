#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

#include "experiments/run_file/journal.h"
#include "experiments/run_file/run_file.h"
#include "tests/run_file/helpers.h"

namespace dark {
namespace {

TEST_CASE("a follower sees a run from before its start, through a resume, to its end") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  RunFollower follower(path);
  CHECK(follower.Poll().attributes.empty());
  {
    RunWriter writer = RunWriter::Create(path, {{"name", "a"}});
    for (std::int64_t step = 0; step < 10; ++step) {
      writer.Append(StepAt(step));
      CHECK(follower.Poll().steps.size() == static_cast<std::size_t>(step));
      writer.Flush();
      CHECK(SameRun(follower.Poll(), writer.data()));
    }
    writer.Finish(RunStatus::kStopped, "signal");
    CHECK(follower.Poll().status() == RunStatus::kStopped);
  }
  CHECK(RepairRun(path));
  CHECK(follower.Poll().steps.size() == 10);
  RunWriter writer = RunWriter::Resume(path, 4);
  CHECK(follower.Poll().steps.size() == 4);
  CHECK(follower.Poll().status() == RunStatus::kRunning);
  writer.Append(StepAt(4));
  writer.Finish(RunStatus::kDone, "all steps");
  CHECK(SameRun(follower.Poll(), writer.data()));
  RunWriter again = RunWriter::Create(path, {{"name", "b"}});
  CHECK(follower.Poll().attributes.at("name") == "b");
  CHECK(follower.Poll().steps.empty());
}

// Readers must never see a row twice, a row out of place or an error, whatever moment they look at.
TEST_CASE("readers that come and go beside a living writer see prefixes only") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  RunWriter first = RunWriter::Create(path, {});
  const std::vector<StepRow> expected = SomeRun(200).steps;
  std::atomic<bool> over{false};
  std::atomic<int> bad{0};
  std::atomic<int> looks{0};
  const auto check = [&](const RunData& run) {
    ++looks;
    const std::vector<StepRow> part(expected.begin(),
                                    expected.begin() + std::min(run.steps.size(), expected.size()));
    if (!SameRows(run.steps, part)) ++bad;
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&, i] {
      RunFollower follower(path);
      while (!over) try {
          i == 0 ? check(follower.Poll()) : check(ReadRun(path));
        } catch (const std::exception&) {
          ++bad;
        }
    });
  for (int round = 0; round < 20; ++round) {
    RunWriter writer = round % 2 == 0 ? RunWriter::Create(path, {}) : RunWriter::Resume(path, 50);
    for (std::int64_t step = round % 2 == 0 ? 0 : 50; step < 200; ++step) {
      writer.Append(StepAt(step));
      if (step % 7 == 0) writer.Flush();
      if (step % 50 == 0) writer.Snapshot();
    }
    writer.Finish(round % 3 == 0 ? RunStatus::kStopped : RunStatus::kDone, "");
  }
  over = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(bad == 0);
  CHECK(looks > 100);
}

}  // namespace
}  // namespace dark
