#include "sweeps/job_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace dark {
namespace {

std::string Limits(const Cores& cores) {
  std::string text = fmt::format("CPUs {} by affinity", FormatCpuList(cores.cpus));
  if (!cores.quota_source.empty())
    text += fmt::format(", {:.3g} CPUs by {}", cores.quota, cores.quota_source);
  return text;
}

}  // namespace

JobPlan PlanJobs(const Cores& cores, int trials, int jobs, int threads) {
  const int usable = cores.Usable();
  if (static_cast<long long>(std::max(jobs, 1)) * std::max(threads, 1) > usable)
    throw Error(fmt::format("{} jobs × {} threads need {} cores, but {} may be used ({})", std::max(jobs, 1),
                            std::max(threads, 1),
                            static_cast<long long>(std::max(jobs, 1)) * std::max(threads, 1), usable,
                            Limits(cores)));
  if (jobs == 0) jobs = std::min(usable / std::max(threads, 1), std::max(trials, 1));
  JobPlan plan;
  plan.threads = threads == 0 ? usable / jobs : threads;
  for (int job = 0; job < jobs; ++job) {
    const auto first = cores.cpus.begin() + job * plan.threads;
    plan.cpus.emplace_back(first, first + plan.threads);
  }
  return plan;
}

}  // namespace dark
