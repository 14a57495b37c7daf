#include "analysis/event.h"

#include <algorithm>
#include <cmath>

namespace dark::analysis {
namespace {

Event FromPoints(std::span<const double> series, const Rule& rule, std::span<const SpikePoint> points) {
  const SpikePoint& before = points.front();
  const auto deviation = [&](std::size_t i) {
    return (OnRuleScale(rule, series[i]) - before.center) / before.scale;
  };
  Event event;
  event.start = before.index;
  event.end = points.back().index;
  event.peak = before.index;
  for (const SpikePoint& point : points)
    if (std::abs(deviation(point.index)) > std::abs(deviation(event.peak))) event.peak = point.index;
  event.height = deviation(event.peak);
  event.rise = event.height > 0;
  event.baseline = FromRuleScale(rule, before.center);
  event.relative = series[event.peak] / event.baseline;
  for (std::size_t i = event.end + 1; i < series.size() && !event.recovery; ++i)
    if ((event.rise ? deviation(i) : -deviation(i)) <= 1) event.recovery = i - event.start;
  return event;
}

double Lost(std::span<const double> series, const Event& event, std::size_t until) {
  double lost = 0;
  for (std::size_t i = event.start; i < until; ++i)
    if (std::isfinite(series[i])) lost += std::max(0.0, series[i] - event.baseline);
  return lost;
}

}  // namespace

std::vector<Event> MergeEvents(std::span<const double> series, const Detection& found, std::size_t gap) {
  std::vector<Event> events;
  const std::span<const SpikePoint> points(found.points);
  for (std::size_t first = 0, next; first < points.size(); first = next) {
    next = first + 1;
    while (next < points.size() && points[next].index - points[next - 1].index < gap) ++next;
    events.push_back(FromPoints(series, found.rule, points.subspan(first, next - first)));
  }
  // Losses stop where the next event starts, so that a rise that lasts is not counted twice.
  for (std::size_t e = 0; e < events.size(); ++e) {
    const std::size_t back = events[e].recovery ? events[e].start + *events[e].recovery : series.size();
    const std::size_t next = e + 1 < events.size() ? events[e + 1].start : series.size();
    events[e].lost = Lost(series, events[e], std::min(back, next));
  }
  return events;
}

}  // namespace dark::analysis
