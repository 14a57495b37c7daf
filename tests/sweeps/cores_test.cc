#include "sweeps/cores.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "core/error.h"
#include "core/random.h"
#include "sweeps/job_plan.h"
#include "tests/temporary_folder.h"

namespace dark {
namespace {

std::vector<int> FirstCpus(int count) {
  std::vector<int> cpus(static_cast<std::size_t>(count));
  std::iota(cpus.begin(), cpus.end(), 0);
  return cpus;
}

TEST_CASE("CPU lists are read and written as the kernel writes them") {
  CHECK(ParseCpuList("0-2,7") == std::vector<int>{0, 1, 2, 7});
  CHECK(ParseCpuList("3\n") == std::vector<int>{3});
  CHECK(ParseCpuList("").empty());
  CHECK(ParseCpuList("x").empty());
  CHECK(FormatCpuList({7, 2, 0, 1}) == "0-2,7");
  Stream random(1, "cpu-lists");
  for (int round = 0; round < 200; ++round) {
    std::set<int> cpus;
    for (std::uint64_t i = random.Below(20); i > 0; --i) cpus.insert(static_cast<int>(random.Below(40)));
    const std::vector<int> list(cpus.begin(), cpus.end());
    CHECK(ParseCpuList(FormatCpuList(list)) == list);
  }
}

TEST_CASE("without a quota all CPUs of the affinity count") {
  const TemporaryFolder root;
  root.Write("proc/self/cgroup", "0::/user.slice\n");
  root.Write("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
  const Cores cores = ReadCores({0, 1, 5}, root.path());
  CHECK(cores.Usable() == 3);
  CHECK(std::isinf(cores.quota));
  CHECK(cores.quota_source.empty());
}

TEST_CASE("the tightest cgroup v2 limit among a group and its ancestors holds") {
  const TemporaryFolder root;
  root.Write("proc/self/cgroup", "0::/a/b\n");
  root.Write("sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
  const std::string tight = root.Write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  const Cores cores = ReadCores(FirstCpus(8), root.path());
  CHECK(cores.quota == Approx(1.5));
  CHECK(cores.quota_source == tight);
  CHECK(cores.Usable() == 1);
}

TEST_CASE("a limit at the mount's root binds, as inside a container") {
  const TemporaryFolder root;
  root.Write("proc/self/cgroup", "0::/\n");
  root.Write("sys/fs/cgroup/cpu.max", "250000 100000\n");
  CHECK(ReadCores(FirstCpus(8), root.path()).Usable() == 2);
}

TEST_CASE("cgroup v1 quotas are read, -1 sets none, foreign controllers do not count") {
  const TemporaryFolder root;
  root.Write("proc/self/cgroup", "9:memory:/m\n4:cpu,cpuacct:/docker/x\n3:cpuset:/s\n0::/\n");
  root.Write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  root.Write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  root.Write("sys/fs/cgroup/memory/m/cpu.cfs_quota_us", "1000\n");
  root.Write("sys/fs/cgroup/memory/m/cpu.cfs_period_us", "100000\n");
  CHECK(ReadCores(FirstCpus(8), root.path()).Usable() == 8);
  root.Write("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "300000\n");
  root.Write("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
  CHECK(ReadCores(FirstCpus(8), root.path()).Usable() == 3);
}

TEST_CASE("a quota below one CPU still lets one thread run, broken files set none") {
  const TemporaryFolder root;
  root.Write("proc/self/cgroup", "nonsense\n0::/\n");
  root.Write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  CHECK(ReadCores(FirstCpus(4), root.path()).Usable() == 1);
  root.Write("sys/fs/cgroup/cpu.max", "what 0\n");
  CHECK(ReadCores(FirstCpus(4), root.path()).Usable() == 4);
}

TEST_CASE("one hardware thread of each physical core comes first") {
  const TemporaryFolder root;
  for (int cpu = 0; cpu < 8; ++cpu)
    root.Write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
               std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4) + "\n");
  const Cores cores = ReadCores(FirstCpus(8), root.path());
  CHECK(cores.cpus == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(cores.physical == 4);
  CHECK(ReadCores({4, 0, 5, 1}, root.path()).cpus == std::vector<int>{0, 1, 4, 5});
  CHECK(ReadCores({4, 0, 5, 1}, root.path()).physical == 2);
}

TEST_CASE("this process has at least one core and is not granted more than it has") {
  const Cores cores = AllowedCores();
  CHECK(cores.Usable() >= 1);
  CHECK(cores.Usable() <= static_cast<int>(cores.cpus.size()));
}

TEST_CASE("jobs times threads never exceed the cores, and jobs share no CPU") {
  Stream random(1, "job-plans");
  for (int round = 0; round < 2000; ++round) {
    Cores cores;
    cores.cpus = FirstCpus(1 + static_cast<int>(random.Below(16)));
    if (random.Below(2) == 0) cores.quota = 0.3 + random.Uniform() * 10;
    const int trials = 1 + static_cast<int>(random.Below(20));
    const int jobs = static_cast<int>(random.Below(6));
    const int threads = static_cast<int>(random.Below(6));
    const bool too_many = std::max(jobs, 1) * std::max(threads, 1) > cores.Usable();
    if (too_many) {
      CHECK_THROWS_AS(PlanJobs(cores, trials, jobs, threads), Error);
      continue;
    }
    const JobPlan plan = PlanJobs(cores, trials, jobs, threads);
    CHECK(plan.jobs() * plan.threads <= cores.Usable());
    if (jobs > 0) CHECK(plan.jobs() == jobs);
    if (threads > 0) CHECK(plan.threads == threads);
    if (jobs == 0) CHECK(plan.jobs() <= trials);
    std::set<int> used;
    for (const auto& cpus : plan.cpus) {
      CHECK(static_cast<int>(cpus.size()) == plan.threads);
      for (const int cpu : cpus) CHECK(used.insert(cpu).second);
    }
  }
}

TEST_CASE("too many jobs are refused with the numbers") {
  Cores cores;
  cores.cpus = {0, 1};
  cores.quota = 1.5;
  cores.quota_source = "/sys/fs/cgroup/cpu.max";
  CHECK_THROWS_WITH(PlanJobs(cores, 9, 4, 1),
                    "4 jobs × 1 threads need 4 cores, but 1 may be used (CPUs 0-1 by affinity, 1.5 CPUs by "
                    "/sys/fs/cgroup/cpu.max)");
}

}  // namespace
}  // namespace dark
