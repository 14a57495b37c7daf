#include "sweeps/disk.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "experiments/run_file/run_data.h"
#include "sweeps/parameter_count.h"
#include "sweeps/table.h"

namespace dark {
namespace {

constexpr double kFixedBytes = 64e3;  // HDF5 and checkpoint headers, config, log
constexpr double kRecordBytes = 16;   // the journal's frame around a row

}  // namespace

double EstimateRunBytes(const RunConfig& config) {
  const auto steps = static_cast<double>(config.train.steps);
  const auto every = [&](Index interval) {
    return interval > 0 ? steps / static_cast<double>(interval) + 1 : 0;
  };
  const double rows = steps * (sizeof(StepRow) + kRecordBytes) +
                      every(config.train.eval_interval) * (sizeof(EvalRow) + kRecordBytes) +
                      every(config.train.health_interval) * static_cast<double>(config.model.layers) *
                          (sizeof(HealthRow) + kRecordBytes);
  const double checkpoint =
      3 * static_cast<double>(ParameterCount(config)) * (config.train.precision == "fp64" ? 8 : 4);
  return kFixedBytes + 2 * rows + checkpoint;
}

double EstimateSweepBytes(const std::vector<const Trial*>& trials, int jobs) {
  double sum = 0;
  double largest = 0;
  for (const Trial* trial : trials) {
    const double bytes = EstimateRunBytes(trial->config);
    sum += bytes;
    largest = std::max(largest, bytes);
  }
  return sum + largest * std::min(static_cast<double>(jobs), static_cast<double>(trials.size()));
}

double FreeBytes(const std::string& folder) {
  std::filesystem::path existing = std::filesystem::absolute(folder);
  while (!std::filesystem::exists(existing) && existing.has_relative_path())
    existing = existing.parent_path();
  struct statvfs info {};
  if (statvfs(existing.c_str(), &info) != 0)
    throw Error(fmt::format("cannot see the free space of {}: {}", existing.string(), std::strerror(errno)),
                Exit::kFailed);
  return static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize);
}

void RequireSpace(const std::string& folder, double needed) {
  const double free = FreeBytes(folder);
  if (needed > free)
    throw Error(fmt::format("the runs need about {} in {}, but only {} are free", HumanBytes(needed), folder,
                            HumanBytes(free)),
                Exit::kFailed);
}

}  // namespace dark
