#pragma once

#include <limits>
#include <string>
#include <vector>

namespace dark {

/// The processors this process may use, and why no more.
struct Cores {
  /// Logical CPUs allowed by affinity: first one of every physical core, then the other hardware threads, so
  /// that a prefix of the list is always the best choice.
  std::vector<int> cpus;
  int physical = 0;  ///< distinct physical cores among `cpus`
  /// CPUs of run time the control group grants, e.g. 1.5; infinity when it sets no limit.
  double quota = std::numeric_limits<double>::infinity();
  std::string quota_source;  ///< the file that sets `quota`, or ""

  /// Threads that can run at full speed at once: the smaller of affinity and quota, at least 1.
  int Usable() const;
};

/// The cores of this process: sched_getaffinity, cgroup v1 and v2 quotas, and the CPU topology.
Cores AllowedCores();

/// The same for a given affinity, with /proc/self/cgroup and /sys read below `root` (a folder, without a
/// trailing slash, "" for the real ones).
Cores ReadCores(const std::vector<int>& affinity, const std::string& root);

/// A CPU list as the kernel writes it: "0-2,7" is {0, 1, 2, 7}. Whatever does not parse ends the list.
std::vector<int> ParseCpuList(const std::string& text);
/// The reverse: {0, 1, 2, 7} is "0-2,7".
std::string FormatCpuList(std::vector<int> cpus);

}  // namespace dark
