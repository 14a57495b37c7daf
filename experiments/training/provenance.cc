#include "experiments/training/provenance.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>

namespace dark {
namespace {

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace

std::string CpuName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string BuildDescription() { return fmt::format("g++ {} {}", __VERSION__, DARKFORMER_FLAGS); }

std::map<std::string, std::string> Provenance(const RunConfig& config, const Dataset& data, Index parameters,
                                              int threads) {
  std::map<std::string, std::string> attributes = {
      {"config", CanonicalYaml(config)},
      {"config_hash", ConfigHash(config)},
      {"seed", fmt::format("{}", config.seed)},
      {"version", DARKFORMER_VERSION},
      {"git_revision", DARKFORMER_REVISION},
      {"build", BuildDescription()},
      {"cpu", CpuName()},
      {"host", HostName()},
      {"threads", fmt::format("{}", threads)},
      {"data_hash", data.data_hash()},
      {"split_hash", data.split_hash()},
      {"vocab", fmt::format("{}", data.vocab())},
      {"train_tokens", fmt::format("{}", data.train().size())},
      {"validation_tokens", fmt::format("{}", data.validation().size())},
      {"parameters", fmt::format("{}", parameters)},
  };
  for (const auto& [key, value] : FlatConfig(config)) attributes["config." + key] = value;
  return attributes;
}

}  // namespace dark
