#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "analysis/detector.h"

namespace dark::analysis {

/// Marked steps closer than this belong to one event.
inline constexpr std::size_t kEventGap = 10;

/// A spike as a person sees it: neighbouring marked steps merged. Indices are positions in the series; the
/// baseline is the one of the first marked step, so it knows nothing of the spike itself.
struct Event {
  std::size_t start = 0;                ///< first marked step
  std::size_t end = 0;                  ///< last marked step
  std::size_t peak = 0;                 ///< marked step that deviates most
  bool rise = true;                     ///< false for a fall, which only a two-sided rule marks
  double baseline = 0;                  ///< what was normal before, in the units of the series
  double height = 0;                    ///< (peak − centre) / scale
  double relative = 0;                  ///< peak / baseline
  std::optional<std::size_t> recovery;  ///< steps from start until back within one scale; none: never
  double lost = 0;  ///< Σ max(0, x − baseline) from start until back, the next event or the end

  std::size_t duration() const { return end - start + 1; }
};

/// Merges the points of `found`, a detection on `series`, that are closer than `gap` steps.
std::vector<Event> MergeEvents(std::span<const double> series, const Detection& found,
                               std::size_t gap = kEventGap);

}  // namespace dark::analysis
