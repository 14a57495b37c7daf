#include "sweeps/cores.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>

#include "core/error.h"

namespace dark {
namespace {

std::vector<int> Affinity() {
  // A machine may have more CPUs than the fixed cpu_set_t holds: grow until the kernel's mask fits.
  for (int capacity = CPU_SETSIZE; capacity <= (1 << 20); capacity *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(capacity),
                                                               [](cpu_set_t* s) { CPU_FREE(s); });
    const std::size_t bytes = CPU_ALLOC_SIZE(capacity);
    if (sched_getaffinity(0, bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    std::vector<int> cpus;
    for (int cpu = 0; cpu < capacity; ++cpu)
      if (CPU_ISSET_S(cpu, bytes, set.get())) cpus.push_back(cpu);
    return cpus;
  }
  throw Error(fmt::format("cannot read the CPU affinity: {}", std::strerror(errno)), Exit::kFailed);
}

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// CPUs granted by one group's folder, infinity when it sets no limit or does not exist. v2 keeps
/// "quota period" in cpu.max, v1 keeps the two in files of their own; no limit is "max" or -1.
double GroupQuota(const std::string& folder, bool v2, std::string& source) {
  source = folder + (v2 ? "/cpu.max" : "/cpu.cfs_quota_us");
  std::istringstream text(v2 ? FirstLine(source)
                             : FirstLine(source) + " " + FirstLine(folder + "/cpu.cfs_period_us"));
  double quota = 0;
  double period = 0;
  const bool limited = static_cast<bool>(text >> quota >> period) && quota > 0 && period > 0;
  return limited ? quota / period : std::numeric_limits<double>::infinity();
}

/// Lowers the quota of `cores` to the tightest limit of the group `path` below `mount` and of its ancestors:
/// a parent's limit binds its children, and inside a container only the ancestors may be visible.
void ApplyGroup(Cores& cores, const std::string& mount, std::string path, bool v2) {
  while (true) {
    std::string source;
    const double quota = GroupQuota(mount + (path == "/" ? "" : path), v2, source);
    if (quota < cores.quota) {
      cores.quota = quota;
      cores.quota_source = source;
    }
    if (path.empty() || path == "/") return;
    path.erase(path.rfind('/'));
  }
}

void ApplyControlGroups(Cores& cores, const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  const std::string mounts = root + "/sys/fs/cgroup";
  for (std::string line; std::getline(file, line);) {  // hierarchy:controllers:path
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (path.empty() || path[0] != '/') continue;
    if (controllers.empty()) {
      ApplyGroup(cores, mounts, path, true);
      ApplyGroup(cores, mounts + "/unified", path, true);  // v2 beside v1
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      for (const std::string& name : std::set<std::string>{controllers, "cpu"})
        ApplyGroup(cores, mounts + "/" + name, path, false);
    }
  }
}

/// One hardware thread of every physical core first: two jobs on one core's threads slow each other down.
void OrderByCore(Cores& cores, std::vector<int> affinity, const std::string& root) {
  std::sort(affinity.begin(), affinity.end());
  std::set<int> taken;
  std::vector<int> siblings;
  for (const int cpu : affinity) {
    if (taken.count(cpu) != 0) {
      siblings.push_back(cpu);
      continue;
    }
    cores.cpus.push_back(cpu);
    const std::string list =
        FirstLine(fmt::format("{}/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", root, cpu));
    for (const int sibling : ParseCpuList(list)) taken.insert(sibling);
  }
  cores.physical = static_cast<int>(cores.cpus.size());
  cores.cpus.insert(cores.cpus.end(), siblings.begin(), siblings.end());
}

}  // namespace

int Cores::Usable() const {
  const double limit = std::min(static_cast<double>(cpus.size()), std::floor(quota));
  return std::max(1, static_cast<int>(limit));
}

Cores AllowedCores() { return ReadCores(Affinity(), ""); }

Cores ReadCores(const std::vector<int>& affinity, const std::string& root) {
  Cores cores;
  OrderByCore(cores, affinity, root);
  ApplyControlGroups(cores, root);
  return cores;
}

std::vector<int> ParseCpuList(const std::string& text) {
  std::vector<int> cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int first = 0;
    auto parsed = std::from_chars(at, end, first);
    if (parsed.ec != std::errc()) break;
    int last = first;
    if (parsed.ptr != end && *parsed.ptr == '-') {
      parsed = std::from_chars(parsed.ptr + 1, end, last);
      if (parsed.ec != std::errc()) break;
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (parsed.ptr == end || *parsed.ptr != ',') break;
    at = parsed.ptr + 1;
  }
  return cpus;
}

std::string FormatCpuList(std::vector<int> cpus) {
  std::sort(cpus.begin(), cpus.end());
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (end - i > 1) text += fmt::format("-{}", cpus[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace dark
