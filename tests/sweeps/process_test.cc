#include "sweeps/process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <thread>

#include "core/error.h"
#include "core/files/file.h"
#include "experiments/run_file/run_file.h"
#include "sweeps/cores.h"
#include "sweeps/log_file.h"
#include "tests/temporary_folder.h"

namespace dark {
namespace {

int Wait(pid_t pid) {
  int status = 0;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  return status;
}

TEST_CASE("a job gets its arguments, environment, CPUs, group and log, and nothing to read") {
  const TemporaryFolder folder;
  Command command;
  command.arguments = {
      "/bin/sh", "-c",
      "echo \"$1|$DARK_TEST\"; echo to-stderr >&2; cat; grep Cpus_allowed_list /proc/self/status; "
      "[ $(cut -d' ' -f5 /proc/$$/stat) -eq $$ ] && echo own-group",
      "sh", "a b"};
  command.environment["DARK_TEST"] = "value";
  command.cpus = {AllowedCores().cpus[0]};
  command.log = folder.path() + "/log.txt";
  CHECK(DescribeExit(Wait(Start(command))) == "exit code 0");
  const std::string log = ReadFile(command.log);
  CHECK(log.find("a b|value\n") == 0);
  CHECK(log.find("to-stderr\n") != std::string::npos);
  CHECK(log.find("Cpus_allowed_list:\t" + std::to_string(command.cpus[0]) + "\n") != std::string::npos);
  CHECK(log.find("own-group") != std::string::npos);
  Wait(Start(command));
  CHECK(ReadFile(command.log).size() == 2 * log.size());  // appended
}

TEST_CASE("a job starts with default signals although the driver blocks or ignores them") {
  const TemporaryFolder folder;
  sigset_t block;
  sigset_t former;
  sigemptyset(&block);
  sigaddset(&block, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &block, &former);
  Command command{{"/bin/sh", "-c", "kill -TERM $$; sleep 5"}, {}, {}, folder.path() + "/log.txt"};
  const int status = Wait(Start(command));
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
  CHECK(DescribeExit(status) == "killed by SIGTERM (signal 15)");
}

TEST_CASE("a program or log that cannot be opened is an error, and nothing runs") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(Start({{"/no/such/program"}, {}, {}, folder.path() + "/log.txt"}),
                    "cannot start /no/such/program: No such file or directory");
  CHECK_THROWS_WITH(Start({{"/bin/true"}, {}, {}, folder.path() + "/no/log.txt"}),
                    "cannot open the log of /bin/true: No such file or directory");
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);  // no child is left behind
}

TEST_CASE("a job does not inherit the locks of its driver") {
  const TemporaryFolder folder;
  pid_t job = 0;
  {
    const RunLock lock(folder.path());
    job = Start({{"/bin/sleep", "60"}, {}, {}, folder.path() + "/log.txt"});
    CHECK(RunLock::Held(folder.path()));
  }
  CHECK_FALSE(RunLock::Held(folder.path()));
  CHECK(kill(job, SIGKILL) == 0);
  Wait(job);
}

TEST_CASE("a job is told to stop when its driver is killed") {
  const TemporaryFolder folder;
  const std::string log = folder.path() + "/log.txt";
  const pid_t driver = fork();
  if (driver == 0) {
    Start({{"/bin/sh", "-c", "trap 'echo told; exit' TERM; echo ready; while :; do sleep 0.01; done"},
           {},
           {},
           log});
    while (true) pause();
  }
  const auto appears = [&](const char* text) {
    for (int i = 0; i < 500; ++i) {
      if (LogTail(log, 0, 5).find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  };
  CHECK(appears("ready"));
  kill(driver, SIGKILL);
  Wait(driver);
  CHECK(appears("told"));
}

TEST_CASE("a shell line can be pasted") {
  CHECK(ShellLine({"/bin/a", "--out", "runs/lr=1e-3", "a b", "it's", ""}) ==
        "/bin/a --out runs/lr=1e-3 'a b' 'it'\\''s' ''");
}

TEST_CASE("the tail of a log is its last lines, from a given byte on") {
  const TemporaryFolder folder;
  const std::string path = folder.Write("log", "one\ntwo\nthree\n");
  CHECK(LogTail(path, 0, 2) == "two\nthree");
  CHECK(LogTail(path, 0, 9) == "one\ntwo\nthree");
  CHECK(LogTail(path, 4, 9) == "two\nthree");
  CHECK(LogTail(path, 14, 9).empty());
  CHECK(LogTail(folder.path() + "/none", 0, 9).empty());
  CHECK(LogTail(folder.Write("long", std::string(50000, 'x')), 0, 3).size() == 16384);
}

}  // namespace
}  // namespace dark
