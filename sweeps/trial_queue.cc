#include "sweeps/trial_queue.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/run_file/run_file.h"

namespace dark {

TrialQueue::TrialQueue(const std::vector<const Trial*>& trials, const SweepStore& store, double patience,
                       Monitor& monitor)
    : store_(store), patience_(patience), monitor_(monitor) {
  for (const Trial* trial : trials) waiting_.push_back({trial, {}});
}

std::optional<ReadyTrial> TrialQueue::Next() {
  const auto ready = std::find_if(waiting_.begin(), waiting_.end(), [this](Waiting& waiting) {
    return !RunLock::Held(store_.Folder(waiting.trial->name)) || !Wait(waiting);
  });
  if (ready == waiting_.end()) return {};
  const ReadyTrial next = {ready->trial, ready->held_since.has_value()};
  waiting_.erase(ready);
  return next;
}

bool TrialQueue::Wait(Waiting& waiting) const {
  if (!waiting.held_since) {
    waiting.held_since = Clock::now();
    monitor_.Note(fmt::format("{} is still held by an earlier process; waiting up to {:.0f} s for it",
                              waiting.trial->name, patience_));
  }
  return SecondsSince(*waiting.held_since) < patience_;
}

}  // namespace dark
