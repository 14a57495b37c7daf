#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dark::analysis {

/// What is normal at one step, judged from the steps before it.
enum class Baseline {
  kMean,      ///< mean and population standard deviation of the values
  kLogMedian  ///< median and MAD / 0.6745 of the logarithms; blind to spikes already in the window
};

/// A spike rule. A step is a spike when its deviation from the baseline of the `window` finite values before
/// it (itself excluded; a full window is needed) passes `threshold` scales. A baseline of scale 0, or below
/// `smallest_scale`, marks nothing.
struct Rule {
  std::string name;
  Baseline baseline = Baseline::kMean;
  std::size_t window = 0;
  double threshold = 0;
  bool two_sided = false;  ///< falls count as well as rises
  bool inclusive = false;  ///< a deviation of exactly the threshold counts
  double smallest_scale = 0;
};

/// |x − mu| ≥ 7 sd over 1000 steps: the spike score of the OLMo 2 report.
Rule PaperRule();
/// x > mu + 6 sd over 128 steps: the stability monitor of the same team's later tool.
Rule ToolRule();
/// 0.6745 (log x − median) / MAD > 8 over 128 steps.
Rule RobustRule();
/// The three rules, in the order above.
std::vector<Rule> StandardRules();
/// The rule with its parameters in words: "tool: x > mean + 6 sd, 128-step window".
std::string Describe(const Rule& rule);

/// One step that a rule marks.
struct SpikePoint {
  std::size_t index = 0;  ///< position in the series
  double center = 0;      ///< mean, or median of the logarithms, of the window
  double scale = 0;       ///< standard deviation, or its robust stand-in, of the window
  double height = 0;      ///< deviation in scales, negative for a fall
};

/// What a rule found in a series.
struct Detection {
  Rule rule;
  std::size_t length = 0;      ///< values in the series
  std::size_t eligible = 0;    ///< finite values with a full window, inside the share of training looked at
  std::size_t non_finite = 0;  ///< NaN and ±infinity: part of no window and no spike
  std::vector<SpikePoint> points;

  /// 100 · points / eligible, or nothing when no step was eligible.
  std::optional<double> Score() const;
  /// Why there is no score: "not computable: 1000-step window, 400 steps".
  std::string WhyNoScore() const;
};

/// The part of training in which spikes count; windows may still reach before it.
struct Share {
  double from = 0;
  double to = 1;
};

Detection Detect(std::span<const double> series, const Rule& rule, Share share = {});

/// `x` on the scale on which the rule measures deviations; not finite when the rule cannot use x.
double OnRuleScale(const Rule& rule, double x);
/// The way back: the value that lies `scales` scales from the centre.
double FromRuleScale(const Rule& rule, double position);

}  // namespace dark::analysis
