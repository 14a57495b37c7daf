#include "analysis/detector.h"

#include <fmt/format.h>

#include <cmath>

#include "analysis/moments.h"
#include "analysis/sliding_median.h"

namespace dark::analysis {
namespace {

constexpr double kMadOfUnitNormal = 0.6745;

struct MeanWindow {
  explicit MeanWindow(std::size_t window) : moments(window) {}
  SlidingMoments moments;
  void Push(double x) { moments.Push(x); }
  bool full() const { return moments.full(); }
  SpikePoint At() const {
    const Moments now = moments.Get();
    return {0, now.mean, now.sd(), 0};
  }
};

struct MedianWindow {
  explicit MedianWindow(std::size_t window) : values(window) {}
  SlidingMedian values;
  void Push(double x) { values.Push(x); }
  bool full() const { return values.full(); }
  SpikePoint At() const { return {0, values.Median(), values.Mad() / kMadOfUnitNormal, 0}; }
};

bool Marks(const Rule& rule, double deviation, double scale) {
  if (!(scale > 0) || scale < rule.smallest_scale) return false;
  const double size = rule.two_sided ? std::abs(deviation) : deviation;
  const double limit = rule.threshold * scale;
  return rule.inclusive ? size >= limit : size > limit;
}

template <class Window>
Detection DetectWith(std::span<const double> series, const Rule& rule, Share share) {
  Detection found{rule, series.size(), 0, 0, {}};
  Window window(rule.window);
  const double first = share.from * static_cast<double>(series.size());
  const double last = share.to * static_cast<double>(series.size());
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (!std::isfinite(series[i])) ++found.non_finite;
    const double x = OnRuleScale(rule, series[i]);
    if (!std::isfinite(x)) continue;
    const double at = static_cast<double>(i);
    if (window.full() && at >= first && at < last) {
      ++found.eligible;
      SpikePoint point = window.At();
      point.index = i;
      point.height = (x - point.center) / point.scale;
      if (Marks(rule, x - point.center, point.scale)) found.points.push_back(point);
    }
    window.Push(x);
  }
  return found;
}

}  // namespace

Rule PaperRule() { return {"paper", Baseline::kMean, 1000, 7, true, true, 0}; }
Rule ToolRule() { return {"tool", Baseline::kMean, 128, 6, false, false, 1e-10}; }
Rule RobustRule() { return {"robust", Baseline::kLogMedian, 128, 8, false, false, 0}; }
std::vector<Rule> StandardRules() { return {PaperRule(), ToolRule(), RobustRule()}; }

std::string Describe(const Rule& rule) {
  const char* compare = rule.inclusive ? "≥" : ">";
  if (rule.baseline == Baseline::kLogMedian)
    return fmt::format("{}: 0.6745 (log x − median)/MAD {} {}, {}-step window", rule.name, compare,
                       rule.threshold, rule.window);
  if (rule.two_sided)
    return fmt::format("{}: |x − mean| {} {} sd, {}-step window", rule.name, compare, rule.threshold,
                       rule.window);
  return fmt::format("{}: x {} mean + {} sd, {}-step window", rule.name, compare, rule.threshold,
                     rule.window);
}

std::optional<double> Detection::Score() const {
  if (eligible == 0) return std::nullopt;
  return 100.0 * static_cast<double>(points.size()) / static_cast<double>(eligible);
}

std::string Detection::WhyNoScore() const {
  return fmt::format("not computable: {}-step window, {} steps", rule.window, length);
}

Detection Detect(std::span<const double> series, const Rule& rule, Share share) {
  return rule.baseline == Baseline::kMean ? DetectWith<MeanWindow>(series, rule, share)
                                          : DetectWith<MedianWindow>(series, rule, share);
}

double OnRuleScale(const Rule& rule, double x) {
  return rule.baseline == Baseline::kLogMedian ? std::log(x) : x;
}

double FromRuleScale(const Rule& rule, double position) {
  return rule.baseline == Baseline::kLogMedian ? std::exp(position) : position;
}

}  // namespace dark::analysis
