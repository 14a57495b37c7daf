#include "sweeps/job_choice.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <thread>

#include "core/files/file.h"
#include "sweeps/log_file.h"
#include "tests/sweeps/fake_trial.h"
#include "tests/temporary_folder.h"

namespace dark {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

class Notes : public Monitor {
 public:
  void Started(const std::string&, const Tally&) override {}
  void Finished(const std::string&, const TrialStatus&, const Tally&, double) override {}
  void Note(const std::string& text) override { notes += text + "\n"; }
  void Tick(const std::function<Snapshot()>&) override {}
  std::string notes;
};

/// A sweep of fake trials, and two cores that are one, so that all of this runs on any machine.
struct Bench {
  explicit Bench(const std::string& role, int steps = 1000000) {
    sweep = Expand(ParseSpec(
        fmt::format("base: {{data: {{text: {}}}, train: {{steps: {}, batch: 64}}}}\nseeds: 4\n", role, steps),
        "fake.yaml"));
    const std::string trainer = WriteFakeTrainer(folder.path());
    options = OptionsFor(trainer);
    options.timer = {trainer, "bench"};
    const int cpu = options.cores.cpus[0];
    options.cores = Cores{};
    options.cores.cpus = {cpu, cpu};
    fs::create_directories(out);
    store.Prepare(sweep);
  }
  JobChoice Choose() {
    monitor.notes.clear();
    const SignalQueue signals;
    return MeasuredJobs(sweep, store, options, signals, monitor);
  }
  JobChoice Stored() const { return StoredJobs(sweep, store, options); }
  /// The threads that timers were asked for so far, in order.
  std::string Timed() const { return LogTail(store.Folder(sweep.trials[0].name) + "/timed.txt", 0, 100); }

  TemporaryFolder folder;
  std::string out = folder.path() + "/sweep";
  SweepStore store{out};
  Sweep sweep;
  LaunchOptions options;
  Notes monitor;
};

TEST_CASE("jobs and threads are measured once and stay") {
  Bench bench("threads");
  CHECK_THAT(bench.Stored().why,
             Contains("1 threads: as many jobs as fit; `sweep run` measures 2 splits first"));
  CHECK(bench.Timed().empty());
  const JobChoice choice = bench.Choose();
  INFO(choice.why);
  CHECK(choice.threads == 2);  // 30 tokens/s against 2 × 10
  CHECK_THAT(choice.why,
             Contains("1 jobs × 2 threads: 30") && Contains("best of 2 splits measured (jobs.csv)"));
  CHECK_THAT(bench.monitor.notes, Contains(choice.why));
  CHECK(bench.Timed() == "1\n1\n2");
  CHECK_THAT(ReadFile(bench.out + "/jobs.csv"), Contains("\n2,1,20,") && Contains("\n1,2,30,"));
  CHECK_FALSE(fs::exists(bench.out + "/timing"));

  CHECK(bench.Choose().threads == 2);
  CHECK_THAT(bench.Stored().why, Contains("jobs  threads  tokens/s") && Contains(choice.why));
  CHECK(bench.Timed() == "1\n1\n2");

  Bench other("ok");  // 10 tokens/s a job, whatever its threads
  CHECK(other.Choose().threads == 1);
}

TEST_CASE("a table for other cores or other shapes is measured again") {
  Bench bench("threads");
  bench.Choose();
  const int cpu = bench.options.cores.cpus[0];
  bench.options.cores.cpus = {cpu, cpu, cpu};
  CHECK_THAT(bench.Stored().why, Contains("`sweep run` measures 3 splits first"));
  bench.Choose();
  CHECK(bench.Timed() == "1\n1\n2\n1\n1\n1\n2\n3");

  for (Trial& trial : bench.sweep.trials) trial.config.model.width = 32;
  CHECK_THAT(bench.Stored().why, Contains("`sweep run` measures 3 splits first"));
  for (Trial& trial : bench.sweep.trials) trial.config.model.width = 64;
  for (Trial& trial : bench.sweep.trials) trial.config.optim.lr = 0.5;
  CHECK_THAT(bench.Stored().why, Contains("best of 3 splits measured"));

  bench.folder.Write("sweep/jobs.csv", "torn");
  CHECK_THAT(bench.Stored().why, Contains("`sweep run` measures 3 splits first"));
}

TEST_CASE("a sweep that is short is not measured, and one that is rather short only once") {
  Bench tiny("threads", 100);  // 200 steps a job
  JobChoice choice = tiny.Choose();
  CHECK(choice.threads == 1);
  CHECK_THAT(choice.why, Contains("as many jobs as fit; too short a sweep to measure"));
  CHECK(tiny.Timed().empty());
  CHECK_FALSE(fs::exists(tiny.out + "/jobs.csv"));

  Bench rapid("rapid", 1000);  // steps enough, but over in two seconds
  choice = rapid.Choose();
  CHECK_THAT(choice.why, Contains("too short a sweep to measure others (jobs.csv)"));
  CHECK(rapid.Choose().why == choice.why);
  CHECK(rapid.Timed() == "1\n1");
}

TEST_CASE("wishes for jobs or threads are not measured, nor is one core") {
  Bench bench("threads");
  bench.options.jobs = 2;
  CHECK(bench.Choose().threads == 1);
  bench.options.jobs = 0;
  bench.options.threads = 1;
  CHECK(bench.Choose().threads == 1);
  bench.options.threads = 0;
  bench.options.cores.cpus.pop_back();
  CHECK(bench.Choose().why.empty());
  bench.options.cores.cpus.push_back(bench.options.cores.cpus[0]);
  bench.options.timer.clear();
  CHECK(bench.Choose().why.empty());
  CHECK(bench.Timed().empty());
  bench.options.jobs = 3;
  CHECK_THROWS_AS(bench.Choose(), Error);
}

TEST_CASE("a measurement that fails leaves the choice as it was, with the reason") {
  for (const auto& [role, reason] :
       {std::pair{"untimed", "exit code 4: no clock"}, std::pair{"mute", "'fast' is no number of tokens/s"},
        std::pair{"hang", "no result within 1 s"}}) {
    Bench bench(role);
    bench.options.timer_patience = 1;
    const JobChoice choice = bench.Choose();
    INFO(role << ": " << choice.why);
    CHECK(choice.threads == 1);
    CHECK_FALSE(choice.interrupted);
    CHECK_THAT(bench.monitor.notes,
               Contains("as many jobs as fit, because measuring failed: ") && Contains(reason));
    CHECK_FALSE(fs::exists(bench.out + "/jobs.csv"));
    CHECK_FALSE(fs::exists(bench.out + "/timing"));
    CHECK((waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD));  // no timer is left
  }
  Bench bench("ok");
  bench.options.timer = {bench.folder.path() + "/nothing"};
  CHECK_THAT(bench.Choose().why, Contains("No such file or directory"));
}

TEST_CASE("a signal ends the measurement and the sweep before any run starts") {
  Bench bench("hang");
  const pthread_t driver = pthread_self();
  std::thread user([&] {
    while (bench.Timed() != "1\n1\n2") std::this_thread::sleep_for(std::chrono::milliseconds(10));
    pthread_kill(driver, SIGINT);
  });
  sigset_t held;  // until the driver takes it
  sigset_t former;
  sigemptyset(&held);
  sigaddset(&held, SIGINT);
  pthread_sigmask(SIG_BLOCK, &held, &former);
  const Tally tally = RunSweep(bench.sweep, bench.store, bench.options, bench.monitor);
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
  user.join();
  CHECK(tally.stopped == 4);
  CHECK(ExitFor(tally, false) == Exit::kStopped);
  CHECK_THAT(bench.monitor.notes, Contains("stopped while measuring"));
  CHECK_FALSE(fs::exists(bench.store.Folder(bench.sweep.trials[0].name) + "/starts.txt"));
  CHECK((waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD));
}

TEST_CASE("the runs that are left keep the threads that the whole sweep was given") {
  Bench bench("threads", 250);
  RunSweep(bench.sweep, bench.store, bench.options, bench.monitor);
  CHECK_THAT(bench.monitor.notes, Contains("4 of 4 trials to run") && Contains("1 jobs × 2 threads\n"));
  const std::string folder = bench.store.Folder(bench.sweep.trials[3].name);
  fs::remove_all(folder);
  bench.monitor.notes.clear();
  RunSweep(bench.sweep, bench.store, bench.options, bench.monitor);
  CHECK_THAT(bench.monitor.notes, Contains("1 of 4 trials to run") && Contains("1 jobs × 2 threads\n"));
  CHECK_THAT(ReadFile(folder + "/log.txt"), Contains("--threads 2"));
  CHECK(bench.Timed() == "1\n1\n2");
}

}  // namespace
}  // namespace dark
