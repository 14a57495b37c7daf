#include "experiments/run_file/run_data.h"

#include <array>

#include <fmt/format.h>

#include "core/error.h"

namespace dark {
namespace {

constexpr std::array kStatusNames = {"running", "done", "diverged", "failed", "stopped"};

}  // namespace

const char* Name(RunStatus status) { return kStatusNames.at(static_cast<std::size_t>(status)); }

RunStatus RunStatusFromName(const std::string& name) {
  for (std::size_t i = 0; i < kStatusNames.size(); ++i)
    if (name == kStatusNames[i]) return static_cast<RunStatus>(i);
  throw Error(fmt::format("unknown run status '{}'", name), Exit::kFailed);
}

RunStatus RunData::status() const {
  const auto found = attributes.find("status");
  return found == attributes.end() ? RunStatus::kRunning : RunStatusFromName(found->second);
}

std::string RunData::Config(const std::string& key) const {
  const auto found = attributes.find("config." + key);
  return found == attributes.end() ? "" : found->second;
}

}  // namespace dark
