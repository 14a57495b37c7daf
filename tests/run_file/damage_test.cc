#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <functional>

#include "experiments/run_file/checkpoint.h"
#include "experiments/run_file/journal.h"
#include "experiments/run_file/run_file.h"
#include "experiments/run_file/run_hdf5.h"
#include "tests/run_file/helpers.h"

namespace dark {
namespace {

std::string Flipped(std::string bytes, std::uint64_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  return bytes;
}

TEST_CASE("a flipped bit anywhere in RUN.h5 is an error or changes nothing") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  const RunData run = SomeRun(50);
  WriteRun(path, run);
  const std::string whole = ReadText(path);
  Stream random(1, "flip");
  int errors = 0;
  for (int i = 0; i < 300; ++i) {
    WriteText(path, Flipped(whole, random.Below(8 * whole.size())));
    RunData read;
    const std::string failure = FailureOf([&] { read = ReadRun(path); });
    if (failure.empty())
      REQUIRE(SameRun(read, run));  // the flip hit the mark of the seal itself
    else
      REQUIRE(failure.find(path) == 0);
    errors += !failure.empty();
  }
  CHECK(errors > 290);
}

TEST_CASE("a truncated RUN.h5 is an error unless only its seal is gone") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  const RunData run = SomeRun(50);
  WriteRun(path, run);
  const std::string whole = ReadText(path);
  Stream random(1, "cut");
  for (int i = 0; i < 200; ++i) {
    const std::size_t size =
        i < 40 ? whole.size() - 1 - static_cast<std::size_t>(i) : random.Below(whole.size());
    WriteText(path, whole.substr(0, size));
    RunData read;
    const std::string failure = FailureOf([&] { read = ReadRun(path); });
    if (whole.size() - size <= 16)
      REQUIRE(SameRun(read, run));
    else
      REQUIRE(failure.find(path) == 0);
  }
}

TEST_CASE("files that are no run are named with a reason") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  const auto failure = [&] { return FailureOf([&] { ReadRun(path); }); };
  CHECK(failure() == path + ": no such run (nor its journal)");
  WriteText(path, "");
  CHECK(failure().find(path + ": cannot open as HDF5: ") == 0);
  WriteText(path, "step,loss\n0,5.5\n");
  CHECK(failure().find(path + ": cannot open as HDF5: ") == 0);
  SaveCheckpoint(path, {});
  CHECK(failure().find("schema_version") != std::string::npos);
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  CHECK(failure().find(path) == 0);
  WriteText(JournalPath(path), "");
  CHECK(failure() == JournalPath(path) + ": is no journal of a run");
  WriteText(JournalPath(path), std::string("DARKJRNL\x63\0\0\0\0\0\0\0", 16));
  CHECK(failure() == JournalPath(path) + ": journal of schema version 99; this program reads 1");
}

TEST_CASE("a journal cut or damaged anywhere gives the rows before that place") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  RunWriter writer = RunWriter::Create(path, {{"name", "a"}});
  for (std::int64_t step = 0; step < 50; ++step) writer.Append(StepAt(step));
  writer.Flush();
  const std::string whole = ReadText(JournalPath(path));
  const std::vector<StepRow>& rows = writer.data().steps;
  Stream random(1, "cut");
  for (int i = 0; i < 300; ++i) {
    const std::size_t place = 16 + random.Below(whole.size() - 16);
    const bool cut = i % 2 == 0;
    WriteText(JournalPath(path), cut ? whole.substr(0, place) : Flipped(whole, 8 * place + random.Below(8)));
    const RunData read = ReadRun(path);
    REQUIRE(read.steps.size() < 50);
    REQUIRE(SameRows(read.steps, std::vector<StepRow>(rows.begin(), rows.begin() + read.steps.size())));
    REQUIRE((whole.size() - place) / 96 + 1 + read.steps.size() >= 50);
  }
}

TEST_CASE("repair writes down how much of a journal was torn") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  {
    RunWriter writer = RunWriter::Create(path, {});
    writer.Append(StepAt(0));
  }
  const std::string whole = ReadText(JournalPath(path));
  WriteText(JournalPath(path), whole + "torn");
  CHECK(RepairRun(path));
  const RunData run = ReadRun(path);
  CHECK(run.steps.size() == 1);
  CHECK(run.status() == RunStatus::kStopped);
  CHECK(run.attributes.at("journal_bytes_lost") == "4");
}

/// Appends and folds until the disk is full, then checks what is left.
void FillTheDisk(const std::string& path) {
  RunWriter writer = RunWriter::Create(path, {});
  std::string failure;
  std::size_t flushed = 0;
  for (std::int64_t step = 0; step < 100000 && failure.empty(); ++step)
    failure = FailureOf([&] {
      writer.Append(StepAt(step));
      if (step % 100 != 99) return;
      writer.Flush();
      flushed = writer.data().steps.size();
      if (step % 1000 == 999) writer.Snapshot();
    });
  const bool named = failure.find(path) == 0 && failure.find("bytes needed") != std::string::npos;
  const RunData read = ReadRun(path);
  const auto& rows = writer.data().steps;
  const bool kept = read.steps.size() >= flushed && flushed > 0 &&
                    SameRows(read.steps, {rows.begin(), rows.begin() + read.steps.size()});
  const auto fold = ReadRunHdf5(path).steps.size();
  if (!named || !kept || fold > flushed) throw std::runtime_error(failure);
}

/// The old checkpoint must outlive a new one that does not fit.
void OverflowWithCheckpoint(const std::string& path) {
  Checkpoint small;
  small.arrays["w"] = {{100}, std::vector<float>(100, 1.0f)};
  SaveCheckpoint(path, small);
  Checkpoint big;
  big.arrays["w"] = {{1000000}, std::vector<float>(1000000, 2.0f)};
  const std::string failure = FailureOf([&] { SaveCheckpoint(path, big); });
  const bool named = failure.find(path) == 0 && failure.find("bytes needed") != std::string::npos;
  const bool kept = std::get<std::vector<float>>(LoadCheckpoint(path).arrays.at("w").values)[99] == 1.0f;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()))
    if (entry.path().extension() == ".tmp") throw std::runtime_error("temporary left");
  if (!named || !kept) throw std::runtime_error(failure);
}

void LimitFiles(rlim_t bytes) {
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, bytes};
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

TEST_CASE("a limit on file size is an Error that names path and bytes; earlier rows stay") {
  const TemporaryFolder folder;
  for (const rlim_t bytes : {200000, 300001, 1000000})
    CHECK(Wait(Fork([&] {
            LimitFiles(bytes);
            FillTheDisk(folder / "run.h5");
          })) == 0);
  CHECK(Wait(Fork([&] {
          LimitFiles(1000000);
          OverflowWithCheckpoint(folder / "checkpoint.h5");
        })) == 0);
}

TEST_CASE("a full disk is an Error that names path and bytes; earlier rows stay") {
  const TemporaryFolder folder;
  constexpr int kNoMount = 77;
  for (const std::function<void()>& work :
       {std::function<void()>([&] { FillTheDisk(folder / "run.h5"); }),
        std::function<void()>([&] { OverflowWithCheckpoint(folder / "checkpoint.h5"); })}) {
    // A private mount name space: the small disk vanishes with the child.
    const int status = Wait(Fork([&] {
      if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
          ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0)
        ::_exit(kNoMount);
      work();
    }));
    if (status == kNoMount) {
      WARN("no right to mount a small disk; the limit on file size stands in for it");
      return;
    }
    CHECK(status == 0);
  }
}

TEST_CASE("a flush that failed can be repeated once there is room") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  CHECK(Wait(Fork([&] {
          RunWriter writer = RunWriter::Create(path, {});
          ::signal(SIGXFSZ, SIG_IGN);
          rlimit limit{};
          ::getrlimit(RLIMIT_FSIZE, &limit);
          const rlim_t before = limit.rlim_cur;
          limit.rlim_cur = 5000;
          ::setrlimit(RLIMIT_FSIZE, &limit);
          for (std::int64_t step = 0; step < 100; ++step) writer.Append(StepAt(step));
          if (FailureOf([&] { writer.Flush(); }).empty()) throw std::runtime_error("no failure");
          if (ReadRun(path).steps.size() >= 60) throw std::runtime_error("too many rows");
          limit.rlim_cur = before;
          ::setrlimit(RLIMIT_FSIZE, &limit);
          writer.Append(StepAt(100));
          writer.Flush();
        })) == 0);
  CHECK(SameRows(ReadRun(path).steps, SomeRun(101).steps));
}

}  // namespace
}  // namespace dark
