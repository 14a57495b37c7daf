#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sweeps/store.h"

namespace dark {

/// A running trial as a table shows it. Numbers that are not known yet are NaN.
struct Progress {
  std::string name;
  std::int64_t step = 0;
  std::int64_t steps = 0;
  double loss = 0;
  double tokens_per_second = 0;
  double seconds_left = 0;
};

/// Trials of a sweep by where they stand.
struct Tally {
  int total = 0;
  int done = 0;
  int diverged = 0;
  int failed = 0;
  int stopped = 0;  ///< saved, or never started, because the sweep was told to stop

  int finished() const { return done + diverged + failed; }
};

/// The whole sweep at one moment.
struct Snapshot {
  Tally tally;
  std::vector<Progress> running;
  double seconds_left = 0;  ///< NaN when nothing tells
};

/// What a user sees of a running sweep.
class Monitor {
 public:
  virtual ~Monitor() = default;
  virtual void Started(const std::string& name, const Tally& tally) = 0;
  /// `number` of `tally.total` finished within `seconds`.
  virtual void Finished(const std::string& name, const TrialStatus& status, const Tally& tally,
                        double seconds) = 0;
  /// A line that is always worth reading, shown at once; may have several lines.
  virtual void Note(const std::string& text) = 0;
  /// Called often; takes a snapshot only when it is time to show one.
  virtual void Tick(const std::function<Snapshot()>& take) = 0;
};

enum class MonitorStyle {
  kQuiet,  ///< notes only
  kPlain,  ///< a line for each start and end, and one for all runs every ten seconds; no control characters
  kLive,   ///< ends above a table that is redrawn in place
};

/// kLive on a terminal that can move its cursor, else kPlain.
MonitorStyle StyleFor(std::FILE* out);

/// `width` is the line length for kLive: 0 asks the terminal at every redraw.
std::unique_ptr<Monitor> MakeMonitor(MonitorStyle style, std::FILE* out, std::size_t width = 0);

}  // namespace dark
