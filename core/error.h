#pragma once

#include <stdexcept>
#include <string>

namespace dark {

/// Exit codes of the command, documented in the README and in `darkformer --help`.
enum class Exit : int { kOk = 0, kUsage = 2, kDiverged = 3, kFailed = 4, kStopped = 5 };

/// A problem the user can act on: one line that says what, where and what was expected.
/// Thrown for bad input (Exit::kUsage) and for failed files or processes (Exit::kFailed);
/// a diverged run is a result, never an Error.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, Exit exit = Exit::kUsage)
      : std::runtime_error(message), exit_(exit) {}
  Exit exit() const { return exit_; }

 private:
  Exit exit_;
};

}  // namespace dark
