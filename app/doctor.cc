#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/commands.h"
#include "app/doctor_checks.h"
#include "core/error.h"
#include "data/prepare.h"

namespace dark {
namespace {

const char* Name(Finding::Level level) {
  switch (level) {
    case Finding::Level::kOk:
      return "ok";
    case Finding::Level::kWarn:
      return "warn";
    case Finding::Level::kFail:
      return "fail";
  }
  return "";
}

Finding CheckCache() {
  try {
    return CheckDisk("cache", CacheFolder(DataOptions()));
  } catch (const Error& error) {
    return {Finding::Level::kFail, "cache", error.what(),
            "set XDG_CACHE_HOME or data.cache to a writable folder"};
  }
}

std::vector<Finding> Examine(const std::string& folder) {
  const Cores cores = AllowedCores();
  std::vector<Finding> findings{CheckBuild(), CheckSimd(), CheckCores(cores)};
  for (Finding& finding : CheckThreadEnvironment(cores)) findings.push_back(std::move(finding));
  for (Finding& finding :
       std::vector<Finding>{CheckMemory(), CheckDisk("disk", folder), CheckCache(), CheckLocks(folder),
                            CheckHdf5Locking(), CheckLocale(), CheckGnuplot()})
    findings.push_back(std::move(finding));
  return findings;
}

Exit PrintFindings(const std::vector<Finding>& findings) {
  int warnings = 0;
  int failures = 0;
  for (const Finding& finding : findings) {
    fmt::print("{:<5} {:<8} {}\n", Name(finding.level), finding.subject, finding.message);
    if (!finding.advice.empty()) fmt::print("{:<5} {:<8} -> {}\n", "", "", finding.advice);
    warnings += finding.level == Finding::Level::kWarn;
    failures += finding.level == Finding::Level::kFail;
  }
  fmt::print("{} checks, {} warnings, {} failures\n", findings.size(), warnings, failures);
  return failures > 0 ? Exit::kFailed : Exit::kOk;
}

}  // namespace

void AddDoctor(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("doctor", "Check this machine for what makes runs slow, wrong or lost");
  const auto folder = std::make_shared<std::string>(".");
  command->add_option("folder", *folder, "where runs will be written (checks its disk and its locks)")
      ->capture_default_str();
  command->footer(
      "Each line is ok, warn or fail, with advice below it. Exit code 4 when something failed, else 0.\n"
      "Examples:\n"
      "  darkformer doctor\n"
      "  darkformer doctor /scratch/runs");
  command->callback([folder, &exit_code] { exit_code = static_cast<int>(PrintFindings(Examine(*folder))); });
}

}  // namespace dark
