#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "core/clock.h"
#include "sweeps/monitor.h"
#include "sweeps/store.h"

namespace dark {

/// A trial that is to run next.
struct ReadyTrial {
  const Trial* trial;
  bool was_held;  ///< someone else held its lock, and may have finished it or hold it still
};

/// The trials of a sweep that wait to be run, in order. One whose lock is held lets others pass for a while:
/// as a rule it is held by a job of a driver that was killed, which saves and ends soon.
class TrialQueue {
 public:
  /// `patience` is in seconds.
  TrialQueue(const std::vector<const Trial*>& trials, const SweepStore& store, double patience,
             Monitor& monitor);

  /// Takes the first trial that is free or was waited for long enough; none when all have to wait.
  std::optional<ReadyTrial> Next();
  std::size_t size() const { return waiting_.size(); }
  void Clear() { waiting_.clear(); }

 private:
  struct Waiting {
    const Trial* trial;
    std::optional<Clock::time_point> held_since;  // first seen with its lock held by someone else
  };
  bool Wait(Waiting& waiting) const;

  const SweepStore& store_;
  double patience_;
  Monitor& monitor_;
  std::deque<Waiting> waiting_;
};

}  // namespace dark
