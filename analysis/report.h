#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/error.h"

namespace dark {

/// What `WriteReport` wrote and found.
struct Report {
  std::string html;      ///< path of report.html
  std::string markdown;  ///< path of report.md
  std::string summary;   ///< at most 15 lines for a terminal, each ended by a newline
  std::size_t runs = 0;
  std::size_t diverged = 0;
  std::size_t unreadable = 0;

  /// kFailed when a file could not be read, else kOk: a diverged run is a result.
  Exit exit() const { return unreadable > 0 ? Exit::kFailed : Exit::kOk; }
};

/// Reports on every run below `dirs` (finished, diverged, killed or still training): writes report.html,
/// report.md, figures/*.svg, runs.csv, events.csv and groups.csv into `out`, each in one step. Empty `out`
/// means the folder "report" in the first directory. The same run files give the same bytes. Throws
/// Error(kUsage) when there is no run, Error(kFailed) when gnuplot or writing fails.
Report WriteReport(const std::vector<std::string>& dirs, const std::string& out);

}  // namespace dark
