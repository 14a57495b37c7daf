#include <catch2/catch.hpp>

#include <signal.h>
#include <unistd.h>

#include "experiments/run_file/run_file.h"
#include "tests/run_file/helpers.h"

namespace dark {
namespace {

TEST_CASE("a second holder is refused and told who the first is") {
  const TemporaryFolder folder;
  CHECK_FALSE(RunLock::Held(folder.path()));
  {
    const RunLock lock(folder.path());
    CHECK(RunLock::Held(folder.path()));
    const std::string failure = FailureOf([&] { RunLock second(folder.path()); });
    CHECK(failure.find(folder.path() + ": in use by pid " + std::to_string(::getpid()) + " on ") == 0);
    CHECK(Wait(Fork([&] { RunLock second(folder.path()); })) == 1);
  }
  CHECK_FALSE(RunLock::Held(folder.path()));
  const RunLock again(folder.path());
}

TEST_CASE("the lock of a killed holder is free, a child of the holder does not keep it") {
  const TemporaryFolder folder;
  const pid_t holder = Fork([&] {
    const RunLock lock(folder.path());
    if (::fork() == 0) ::execlp("sleep", "sleep", "5", nullptr);
    ::pause();
  });
  while (!RunLock::Held(folder.path())) ::usleep(1000);
  ::usleep(100000);  // time for the child to become `sleep`
  ::kill(holder, SIGKILL);
  Wait(holder);
  CHECK_FALSE(RunLock::Held(folder.path()));
}

TEST_CASE("looking at a lock never makes a starting run fail") {
  const TemporaryFolder folder;
  const pid_t watcher = Fork([&] {
    while (true) RunLock::Held(folder.path());
  });
  for (int i = 0; i < 200; ++i) RunLock lock(folder.path());
  ::kill(watcher, SIGKILL);
  Wait(watcher);
}

TEST_CASE("a living run is not repaired") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  {
    const RunLock lock(folder.path());
    RunWriter writer = RunWriter::Create(path, {});
    writer.Append(StepAt(0));
    writer.Flush();
    CHECK(FailureOf([&] { RepairRun(path); }).find("in use by") != std::string::npos);
    CHECK(ReadRepairedRun(path).status() == RunStatus::kRunning);
  }
  CHECK(ReadRepairedRun(path).status() == RunStatus::kStopped);
  CHECK_FALSE(RepairRun(path));
}

TEST_CASE("a folder that is not there is an error with its path") {
  const TemporaryFolder folder;
  CHECK(FailureOf([&] { RunLock lock(folder / "no"); }).find(folder / "no") == 0);
  CHECK_FALSE(RunLock::Held(folder / "no"));
}

}  // namespace
}  // namespace dark
