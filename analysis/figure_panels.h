#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/figure_style.h"
#include "analysis/study.h"

namespace dark::analysis {

// Two panels of final values side by side over a legend: the layout of the figures against learning rate and
// m.

inline constexpr int kPanelsWidth = 990, kPanelsHeight = 400;
inline constexpr double kPanelsLegend = 0.16;  ///< share of the height

/// Mean, lowest and highest seed at one place of the x axis.
struct Spread {
  double x = 0, mean = 0, min = 0, max = 0;
};

/// Over the runs of `group` that take part in means, times `scale`; none without any.
std::optional<Spread> SpreadOf(const Group* group, double x, double AnalysedRun::*value, double scale);
std::string SpreadBlock(const std::string& name, const std::vector<Spread>& points);
/// Plots block `$name` as a line through the means with a bar from the lowest to the highest seed.
std::string Spreads(const std::string& name, const ArmStyle& style);

/// Places the next plot in panel 0 or 1.
std::string PanelFrame(int column, const std::string& title, const std::string& axis);

struct Bounds {
  double low = 0, high = 0;
};
/// Of `value` over those of `groups` that take part in means, with a margin; none without any.
std::optional<Bounds> BoundsOf(const std::vector<const Group*>& groups, double AnalysedRun::*value,
                               double scale);

}  // namespace dark::analysis
