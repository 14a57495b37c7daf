#include <signal.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "core/files/file.h"
#include "core/random.h"
#include "experiments/run_file/run_file.h"
#include "sweeps/log_file.h"
#include "sweeps/process.h"
#include "sweeps/store.h"
#include "tests/sweeps/fake_trial.h"
#include "tests/temporary_folder.h"

namespace dark {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSpec = "base: {data: {text: ok}, train: {steps: 10}}\nseeds: 6\n";
constexpr int kTrials = 6;
constexpr int kSteps = 10;
constexpr std::chrono::milliseconds kPatience = std::chrono::seconds(60);

/// Contents of every file below the folders of trials that have a result.
using Contents = std::map<std::string, std::string>;

void AddResults(const std::string& out, Contents& contents) {
  std::error_code missing;
  for (const auto& trial : fs::directory_iterator(out + "/trials", missing)) {
    if (!IsResult(ReadTrial(trial.path().string()).state)) continue;
    for (const auto& file : fs::directory_iterator(trial.path()))
      if (contents.count(file.path().string()) == 0)
        contents[file.path().string()] = ReadFile(file.path().string());
  }
}

void CheckUnchanged(const Contents& contents) {
  for (const auto& [path, text] : contents) {
    INFO(path);
    CHECK(ReadFile(path) == text);
  }
}

/// Every trial has all its steps, each once.
void CheckComplete(const std::string& out) {
  int trials = 0;
  for (const auto& trial : fs::directory_iterator(out + "/trials")) {
    ++trials;
    const RunData run = ReadRun(trial.path().string() + "/run.h5");
    CHECK(run.status() == RunStatus::kDone);
    REQUIRE(run.steps.size() == kSteps);
    for (int step = 0; step < kSteps; ++step) CHECK(run.steps[static_cast<std::size_t>(step)].step == step);
  }
  CHECK(trials == kTrials);
}

/// Waits up to `patience` for a child to end; returns whether it did.
bool Ended(pid_t pid, std::chrono::milliseconds patience, int& status) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (waitpid(pid, &status, WNOHANG) != pid) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

std::chrono::milliseconds RandomDelay(Stream& random, std::chrono::milliseconds most) {
  return std::chrono::milliseconds(random.Below(static_cast<std::uint64_t>(most.count())));
}

TEST_CASE("a driver killed at any moment loses and repeats nothing") {
  const TemporaryFolder folder;
  const std::string trainer = WriteFakeTrainer(folder.path());
  const std::string spec = folder.Write("kill.yaml", kSpec);
  const std::string log = folder.path() + "/driver.log";
  // Moments spread over about the time to the next trial's end, however fast or busy the machine is: more
  // time after each kill, much less when a driver got through.
  std::chrono::milliseconds window(100);
  Stream random(11, "driver-kills");
  int kills = 0;
  for (int sweep = 0; kills < 50; ++sweep) {
    const std::string out = folder.path() + "/out" + std::to_string(sweep);
    Contents results;
    int status = 0;
    while (true) {
      const pid_t driver = StartFakeDriver(spec, out, trainer, log);
      if (Ended(driver, kills < 50 ? RandomDelay(random, window) : kPatience, status)) break;
      kill(driver, SIGKILL);
      waitpid(driver, nullptr, 0);
      ++kills;
      window += window / 10;
      AddResults(out, results);
    }
    window = std::max(window / 2, std::chrono::milliseconds(20));
    INFO(LogTail(log, 0, 40));
    REQUIRE(DescribeExit(status) == "exit code 0");
    CheckComplete(out);
    CheckUnchanged(results);
  }
}

/// The processes of the running trials, as their locks name no one else: children of `driver`.
std::vector<pid_t> Children(pid_t driver) {
  std::vector<pid_t> children;
  std::ifstream list("/proc/" + std::to_string(driver) + "/task/" + std::to_string(driver) + "/children");
  for (pid_t pid = 0; list >> pid;) children.push_back(pid);
  return children;
}

TEST_CASE("trials killed at any moment are run to their end by the next drivers") {
  const TemporaryFolder folder;
  const std::string trainer = WriteFakeTrainer(folder.path());
  const std::string spec = folder.Write("kill.yaml", kSpec);
  Stream random(12, "trial-kills");
  int kills = 0;
  for (int sweep = 0; kills < 25 && sweep < 10; ++sweep) {  // one may be over before so many
    const std::string out = folder.path() + "/out" + std::to_string(sweep);
    Contents results;
    int round = 0;
    for (; round < 30; ++round) {
      const pid_t driver = StartFakeDriver(spec, out, trainer, folder.path() + "/driver.log");
      int status = 0;
      while (!Ended(driver, RandomDelay(random, std::chrono::milliseconds(60)), status)) {
        const std::vector<pid_t> children = Children(driver);
        if (!children.empty() && kills < 25 && kill(children[random.Below(children.size())], SIGKILL) == 0)
          ++kills;
      }
      AddResults(out, results);
      if (DescribeExit(status) == "exit code 0") break;
      CHECK(DescribeExit(status) == "exit code 4");  // killed trials count as failed, the others went on
    }
    CHECK(round < 30);
    CheckComplete(out);
    CheckUnchanged(results);
  }
  CHECK(kills == 25);
}

TEST_CASE("of eight drivers started at once one works, the others say who does") {
  const TemporaryFolder folder;
  const std::string trainer = WriteFakeTrainer(folder.path());
  const std::string spec = folder.Write("race.yaml", kSpec);
  const std::string out = folder.path() + "/out";
  std::vector<pid_t> drivers;
  for (int i = 0; i < 8; ++i)
    drivers.push_back(StartFakeDriver(spec, out, trainer, folder.path() + "/log" + std::to_string(i)));
  int finished = 0;
  for (std::size_t i = 0; i < drivers.size(); ++i) {
    int status = 0;
    REQUIRE(waitpid(drivers[i], &status, 0) == drivers[i]);
    const std::string log = ReadFile(folder.path() + "/log" + std::to_string(i));
    if (DescribeExit(status) == "exit code 0")
      ++finished;
    else
      CHECK(log.find(out) != std::string::npos);
  }
  CHECK(finished >= 1);
  CheckComplete(out);
  for (const auto& trial : fs::directory_iterator(out + "/trials")) {
    const std::string starts = ReadFile(trial.path().string() + "/starts.txt");
    CHECK(std::count(starts.begin(), starts.end(), '\n') == 1);
  }
}

struct Running {
  TemporaryFolder folder;
  std::string log = folder.path() + "/driver.log";
  std::string out = folder.path() + "/out";
  pid_t driver = 0;

  /// Starts a driver on long trials and waits until at least one works.
  explicit Running(const char* role) {
    const std::string spec = folder.Write(
        "long.yaml", std::string("base: {data: {text: ") + role + "}, train: {steps: 2000}}\nseeds: 4\n");
    driver = StartFakeDriver(spec, out, WriteFakeTrainer(folder.path()), log);
    for (int i = 0; i < 2000 && Saved() == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  int Saved() const {
    int saved = 0;
    std::error_code missing;
    for (const auto& trial : fs::directory_iterator(out + "/trials", missing))
      saved += fs::exists(trial.path() / "saved.txt") ? 1 : 0;
    return saved;
  }
};

TEST_CASE("the first signal saves and stops, with exit code 5") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Running running("ok");
    REQUIRE(running.Saved() > 0);
    kill(running.driver, signal);
    int status = 0;
    REQUIRE(Ended(running.driver, kPatience, status));
    CHECK(DescribeExit(status) == "exit code 5");
    int stopped = 0;
    for (const auto& trial : fs::directory_iterator(running.out + "/trials")) {
      const TrialStatus trial_status = ReadTrial(trial.path().string());
      CHECK((trial_status.state == TrialState::kStopped || trial_status.state == TrialState::kPlanned));
      if (trial_status.state == TrialState::kStopped) ++stopped;
    }
    CHECK(stopped >= 1);
    CHECK(ReadFile(running.log).find('\x1b') == std::string::npos);
  }
}

TEST_CASE("the second signal kills trials that do not stop") {
  Running running("stubborn");
  kill(running.driver, SIGINT);
  int status = 0;
  CHECK_FALSE(Ended(running.driver, std::chrono::milliseconds(400), status));
  kill(running.driver, SIGINT);
  REQUIRE(Ended(running.driver, kPatience, status));
  CHECK(DescribeExit(status) == "exit code 5");
}

}  // namespace
}  // namespace dark
