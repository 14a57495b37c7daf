#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "core/error.h"
#include "data/prepare.h"

namespace dark {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Candidates(const DataOptions& options) {
  if (!options.cache.empty()) return {options.cache};
  std::vector<fs::path> folders;
  // A relative XDG_CACHE_HOME is to be ignored, says the XDG Base Directory Specification.
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg != nullptr && fs::path(xdg).is_absolute()) folders.push_back(fs::path(xdg) / "darkformer");
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') folders.push_back(fs::path(home) / ".cache" / "darkformer");
  std::error_code ignored;
  folders.push_back(fs::temp_directory_path(ignored) / fmt::format("darkformer-{}", ::getuid()));
  return folders;
}

}  // namespace

std::string CacheFolder(const DataOptions& options) {
  std::string problems;
  for (const fs::path& folder : Candidates(options)) {
    std::error_code error;
    fs::create_directories(folder, error);
    // A cache that cannot be written may still hold the shard, so a folder the user named need only exist.
    if (!error && (!options.cache.empty() || ::access(folder.c_str(), W_OK) == 0)) return folder.string();
    problems += fmt::format("{}{}: {}", problems.empty() ? "" : "; ", folder.string(),
                            error ? error.message() : "not writable");
  }
  throw Error(fmt::format("no folder for prepared tokens: {} (key data.cache)", problems), Exit::kFailed);
}

}  // namespace dark
