#include "sweeps/launcher.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <thread>

#include "core/files/file.h"
#include "core/files/replace_file.h"
#include "experiments/run_file/run_file.h"
#include "sweeps/report.h"
#include "tests/sweeps/fake_trial.h"
#include "tests/temporary_folder.h"

namespace dark {
namespace {

/// Remembers everything it is told.
class Recorder : public Monitor {
 public:
  void Started(const std::string& name, const Tally&) override { started.push_back(name); }
  void Finished(const std::string& name, const TrialStatus& status, const Tally&, double) override {
    finished.emplace_back(name, status);
  }
  void Note(const std::string& text) override { notes += text + "\n"; }
  void Tick(const std::function<Snapshot()>& take) override { last = take(); }

  std::vector<std::string> started;
  std::vector<std::pair<std::string, TrialStatus>> finished;
  std::string notes;
  Snapshot last;
};

Sweep Read(const std::string& text) { return Expand(ParseSpec(text, "fake.yaml")); }

Sweep Roles(const std::string& roles, int steps = 5) {
  return Read(fmt::format("base: {{train: {{steps: {}}}}}\ngrid: {{data.text: [{}]}}\n", steps, roles));
}

struct Bench {
  TemporaryFolder folder;
  std::string out = folder.path() + "/a sweep's \u00e9 folder";
  LaunchOptions options = OptionsFor(WriteFakeTrainer(folder.path()));
  SweepStore store{out};
  Recorder monitor;
};

TEST_CASE("a sweep runs every trial once, and again runs nothing") {
  Bench bench;
  Sweep sweep = Read("base: {data: {text: ok}, train: {steps: 5}}\nseeds: 5\n");
  const Tally tally = RunSweep(sweep, bench.store, bench.options, bench.monitor);
  CHECK(tally.done == 5);
  CHECK(ExitFor(tally, false) == Exit::kOk);
  CHECK(bench.monitor.started.size() == 5);
  for (const Trial& trial : sweep.trials) {
    const std::string folder = bench.store.Folder(trial.name);
    CHECK(ReadFile(folder + "/config.yaml") == CanonicalYaml(trial.config));
    CHECK(ReadTrial(folder).state == TrialState::kDone);
    CHECK(ReadTrial(folder).step == 5);
    CHECK(ReadFile(folder + "/log.txt").find("--resume --threads") != std::string::npos);
  }
  CHECK(ReadFile(bench.out + "/sweep.yaml") == sweep.text);
  CHECK(RunSweep(sweep, bench.store, bench.options, bench.monitor).done == 5);
  CHECK(bench.monitor.started.size() == 5);
}

TEST_CASE("a failed trial is shown at once with its log and command; the others go on") {
  Bench bench;
  bench.options.jobs = 1;
  Sweep sweep = Roles("fail, diverge, crash, ok");
  const Tally tally = RunSweep(sweep, bench.store, bench.options, bench.monitor);
  CHECK(tally.failed == 2);
  CHECK(tally.diverged == 1);
  CHECK(tally.done == 1);
  CHECK(ExitFor(tally, false) == Exit::kFailed);
  const std::string& notes = bench.monitor.notes;
  CHECK(notes.find("exit code 4: disk on fire") != std::string::npos);
  CHECK(notes.find("line one\nthe disk is on fire\n") != std::string::npos);
  CHECK(notes.find("killed by SIGABRT") != std::string::npos);
  CHECK(notes.find("/config.yaml' --out '") != std::string::npos);

  // Again: results and the failure stay, the crash left no result and runs again.
  bench.monitor.started.clear();
  const Tally again = RunSweep(sweep, bench.store, bench.options, bench.monitor);
  CHECK(again.failed == 2);
  CHECK(bench.monitor.started.size() == 1);
  bench.options.retry_failed = true;
  bench.monitor.started.clear();
  CHECK(RunSweep(sweep, bench.store, bench.options, bench.monitor).failed == 2);
  CHECK(bench.monitor.started.size() == 2);
}

TEST_CASE("with on-error stop a failure ends the sweep, and what ran is saved") {
  Bench bench;
  bench.options.jobs = 1;
  bench.options.stop_on_error = true;
  Sweep sweep = Roles("fail, ok, stubborn");
  const Tally tally = RunSweep(sweep, bench.store, bench.options, bench.monitor);
  CHECK(tally.failed == 1);
  CHECK(tally.stopped == 2);
  CHECK(ExitFor(tally, true) == Exit::kFailed);
  CHECK(bench.monitor.started.size() == 1);
}

TEST_CASE("a trainer that cannot be started fails its trials, it does not end the driver") {
  Bench bench;
  bench.options.trainer = {bench.folder.path() + "/nothing"};
  Sweep sweep = Roles("ok");
  CHECK(RunSweep(sweep, bench.store, bench.options, bench.monitor).failed == 1);
  CHECK(bench.monitor.notes.find("No such file or directory") != std::string::npos);
}

TEST_CASE("exit codes: stopped beats failed beats diverged") {
  Tally tally;
  CHECK(ExitFor(tally, false) == Exit::kOk);
  tally.diverged = 1;
  CHECK(ExitFor(tally, false) == Exit::kDiverged);
  tally.failed = 1;
  CHECK(ExitFor(tally, false) == Exit::kFailed);
  tally.stopped = 1;
  CHECK(ExitFor(tally, false) == Exit::kStopped);
}

TEST_CASE("two drivers never work in one folder") {
  Bench bench;
  std::filesystem::create_directories(bench.out);
  const RunLock lock(bench.out);
  Sweep sweep = Roles("ok");
  CHECK_THROWS_AS(RunSweep(sweep, bench.store, bench.options, bench.monitor), Error);
  CHECK(bench.monitor.started.empty());
}

TEST_CASE("a trial that someone still holds is waited for, then run") {
  Bench bench;
  Sweep sweep = Roles("ok");
  const std::string folder = bench.store.Folder(sweep.trials[0].name);
  std::filesystem::create_directories(folder);
  auto lock = std::make_unique<RunLock>(folder);
  std::thread holder([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    lock.reset();
  });
  CHECK(RunSweep(sweep, bench.store, bench.options, bench.monitor).done == 1);
  holder.join();
  CHECK(bench.monitor.notes.find("still held by an earlier process") != std::string::npos);

  Sweep other = Roles("ok", 6);
  const std::string held = bench.store.Folder(other.trials[0].name);
  std::filesystem::create_directories(held);
  const RunLock forever(held);
  bench.options.lock_patience = 0.3;
  CHECK(RunSweep(other, bench.store, bench.options, bench.monitor).failed == 1);
  CHECK(bench.monitor.finished.back().second.reason == "another process holds its folder");
}

TEST_CASE("a changed sweep adds what is new, keeps what is there and names what it no longer has") {
  Bench bench;
  Sweep first = Read("base: {data: {text: ok}, train: {steps: 3}}\ngrid: {optim.lr: [1e-3, 2e-3]}\n");
  CHECK(RunSweep(first, bench.store, bench.options, bench.monitor).done == 2);
  Sweep second =
      Read("base: {data: {text: ok}, train: {steps: 3}}\ngrid: {optim.lr: [0.0010, 3e-3]}\nseeds: 2\n");
  bench.monitor.started.clear();
  CHECK(RunSweep(second, bench.store, bench.options, bench.monitor).done == 4);
  CHECK(bench.monitor.started.size() == 3);
  CHECK(bench.monitor.notes.find("1 trials here are not in this sweep") != std::string::npos);
  CHECK(bench.monitor.notes.find("lr=0.002") != std::string::npos);

  // Another axis changes the names, not the runs.
  Sweep third = Read(
      "base: {data: {text: ok}, train: {steps: 3}}\ngrid: {optim.lr: [1e-3], optim.beta1: [0.9, 0.8]}\n");
  const std::string old_name = first.trials[0].name;
  bench.monitor.started.clear();
  CHECK(RunSweep(third, bench.store, bench.options, bench.monitor).done == 2);
  CHECK(bench.monitor.started.size() == 1);
  CHECK(third.trials[0].name == old_name);
}

TEST_CASE("a config that was edited by hand is refused") {
  Bench bench;
  Sweep sweep = Roles("ok");
  RunSweep(sweep, bench.store, bench.options, bench.monitor);
  const std::string path = bench.store.Folder(sweep.trials[0].name) + "/config.yaml";
  ReplaceFile(path, CanonicalYaml(Roles("ok", 9).trials[0].config));
  CHECK_THROWS_WITH(RunSweep(sweep, bench.store, bench.options, bench.monitor),
                    Catch::Contains("was changed"));
  ReplaceFile(path, "nonsense: 1\n");
  CHECK_THROWS_WITH(RunSweep(sweep, bench.store, bench.options, bench.monitor),
                    Catch::Contains("remove it to have it written again"));
}

TEST_CASE("a moved sweep is the same sweep") {
  Bench bench;
  Sweep sweep = Roles("ok, diverge");
  RunSweep(sweep, bench.store, bench.options, bench.monitor);
  const std::string moved = bench.folder.path() + "/moved\nhere";
  std::filesystem::rename(bench.out, moved);
  bench.monitor.started.clear();
  const Tally tally = RunSweep(sweep, SweepStore(moved), bench.options, bench.monitor);
  CHECK(tally.done + tally.diverged == 2);
  CHECK(bench.monitor.started.empty());
  CHECK(ReadTrials(SweepStore(moved), SweepStore(moved).StoredNames()).size() == 2);
}

TEST_CASE("an unreadable run file is a failed trial with the reason") {
  Bench bench;
  Sweep sweep = Roles("ok");
  RunSweep(sweep, bench.store, bench.options, bench.monitor);
  const std::string folder = bench.store.Folder(sweep.trials[0].name);
  ReplaceFile(folder + "/run.h5", "not a run");
  const TrialStatus status = ReadTrial(folder);
  CHECK(status.state == TrialState::kFailed);
  CHECK(status.reason.find("run.h5") != std::string::npos);
  CHECK(std::isnan(status.loss));
}

TEST_CASE("progress is followed while trials run") {
  Bench bench;
  class Watcher : public Recorder {
   public:
    void Tick(const std::function<Snapshot()>& take) override {
      for (const Progress& run : take().running) best = std::max(best, run.step);
      last = take();
    }
    std::int64_t best = 0;
  } watcher;
  Sweep sweep = Roles("ok", 60);
  RunSweep(sweep, bench.store, bench.options, watcher);
  CHECK(watcher.best >= 5);
  CHECK(watcher.best <= 60);
}

}  // namespace
}  // namespace dark
