#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "experiments/run_file/journal.h"
#include "experiments/run_file/run_file.h"
#include "experiments/run_file/run_hdf5.h"
#include "tests/run_file/helpers.h"

namespace dark {
namespace {

/// What a child that will be killed has promised so far, in memory shared with its parent.
struct Promise {
  std::atomic<std::int64_t> flushed{0};  ///< steps that must survive
  std::atomic<std::int64_t> calls{0};    ///< calls of the writer so far
};

class SharedPromise {
 public:
  SharedPromise()
      : at_(new (::mmap(nullptr, sizeof(Promise), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                Promise) {}
  ~SharedPromise() { ::munmap(at_, sizeof(Promise)); }
  Promise* operator->() const { return at_; }

 private:
  Promise* at_;
};

constexpr std::int64_t kSteps = 30;
constexpr std::int64_t kKept = 15;

/// One life after the other at the same path, through every call of the writer, until killed. `kind` 0 begins
/// with a new run, others continue one that has `steps` steps on the disk. Each goes on where the kept rows
/// end, so after any kill rows 0, 1, 2… are there without gap or repetition.
void LiveUntilKilled(const std::string& path, std::int64_t kind, std::int64_t steps,
                     const SharedPromise& promise) {
  for (;; ++kind) {
    const bool resume = kind % 3 != 0;
    const std::int64_t begin = resume ? std::min(kKept, steps) : 0;
    promise->flushed = begin;
    RunWriter writer = resume ? RunWriter::Resume(path, kKept) : RunWriter::Create(path, {{"name", "a"}});
    ++promise->calls;
    for (std::int64_t step = begin; step < kSteps; ++step) {
      writer.Append(StepAt(step));
      if (step % 10 == 0) writer.Append(EvalAt(step));
      if (step % 5 == 4) {
        step % 10 == 4 ? writer.Flush() : writer.Snapshot();
        promise->flushed = step + 1;
      }
      ++promise->calls;
    }
    writer.Finish(kind % 3 == 1 ? RunStatus::kStopped : RunStatus::kDone, "");
    steps = kSteps;
    ++promise->calls;
  }
}

TEST_CASE("kill -9 at any moment loses nothing that was flushed and doubles nothing") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  const std::vector<StepRow> expected = SomeRun(kSteps).steps;
  Stream random(1, "kill");
  WriteRun(path, SomeRun(kKept));
  std::int64_t size = kKept;
  for (int i = 0; i < 250; ++i) {
    const SharedPromise promise;
    const pid_t child = Fork([&] { LiveUntilKilled(path, i % 3, size, promise); });
    // By progress, so that a busy machine meets the same moments, then anywhere within the next call.
    const auto calls = static_cast<std::int64_t>(random.Below(2) * random.Below(kSteps + 4));
    while (promise->calls < calls) ::usleep(20);
    ::usleep(static_cast<useconds_t>(random.Below(1500)));
    ::kill(child, SIGKILL);
    REQUIRE(Wait(child) == -SIGKILL);
    const bool journal = std::filesystem::exists(JournalPath(path));
    const RunData run = ReadRun(path);
    size = static_cast<std::int64_t>(run.steps.size());
    REQUIRE(size <= kSteps);
    REQUIRE(SameRows(run.steps, std::vector<StepRow>(expected.begin(), expected.begin() + size)));
    REQUIRE(size >= promise->flushed);
    REQUIRE(RepairRun(path) == journal);
    REQUIRE_FALSE(RepairRun(path));
    REQUIRE(SameSeries(ReadRunHdf5(path), run));
    REQUIRE(ReadRunHdf5(path).status() != RunStatus::kRunning);
    REQUIRE(folder.Temporaries() <= 1);
  }
  RunWriter::Create(path, {});
  CHECK(folder.Temporaries() == 0);
}

// The moments between two system calls, each rebuilt by hand.

TEST_CASE("killed between the fold of Finish and the end of the journal: both say the same") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  RunWriter writer = RunWriter::Create(path, {{"name", "a"}});
  for (std::int64_t step = 0; step < 20; ++step) writer.Append(StepAt(step));
  writer.Finish(RunStatus::kStopped, "all that Finish does but the removal");
  CHECK(std::filesystem::exists(JournalPath(path)));
  CHECK(SameRun(ReadRun(path), ReadRunHdf5(path)));
  CHECK(RepairRun(path));
  CHECK(SameRun(ReadRun(path), writer.data()));
}

TEST_CASE("killed in Create after the journal: the former run's RUN.h5 does not count") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  RunData former = SomeRun(30);
  WriteRun(path, former);
  const JournalWriter journal(JournalPath(path),
                              RunData{{{"name", "new"}, {"status", "running"}}, {}, {}, {}});
  CHECK(ReadRun(path).steps.empty());
  CHECK(RepairRun(path));
  CHECK(ReadRun(path).attributes.at("name") == "new");
  CHECK(ReadRun(path).steps.empty());
}

TEST_CASE("killed before any rename: the former state stands and the temporaries go with the next write") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  const RunData former = SomeRun(30);
  WriteRun(path, former);
  WriteText(path + ".0123456789abcdef.tmp", "half an HDF5 file");
  WriteText(JournalPath(path) + ".0123456789abcdef.tmp", "half a journal");
  WriteText(path + ".mine.tmp", "a file of somebody else");
  CHECK(SameRun(ReadRun(path), former));
  CHECK_FALSE(RepairRun(path));
  const RunWriter writer = RunWriter::Resume(path, 10);
  CHECK(writer.data().steps.size() == 10);
  CHECK(folder.Temporaries() == 1);
}

}  // namespace
}  // namespace dark
