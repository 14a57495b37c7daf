#include "analysis/figure_panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dark::analysis {

std::optional<Spread> SpreadOf(const Group* group, double x, double AnalysedRun::*value, double scale) {
  if (group == nullptr) return std::nullopt;
  const Estimate e = EstimateMean(group->Counted(value));
  if (e.n == 0) return std::nullopt;
  return Spread{x, e.mean * scale, e.min * scale, e.max * scale};
}

std::string SpreadBlock(const std::string& name, const std::vector<Spread>& points) {
  std::string block = fmt::format("${} << END\n", name);
  for (const Spread& p : points)
    block += fmt::format("{:.6g} {:.6g} {:.6g} {:.6g}\n", p.x, p.mean, p.min, p.max);
  return block + "END\n";
}

std::string Spreads(const std::string& name, const ArmStyle& style) {
  // Not gnuplot's own error bars: those paint a disc in the colour of the sheet under every point.
  return fmt::format(
      ", ${0} using 1:3:(0):($4-$3) with vectors nohead lw 1.2 lc rgb \"{1}\", ${0} using 1:2 {2}", name,
      style.colour, LinePoints(style));
}

std::string PanelFrame(int column, const std::string& title, const std::string& axis) {
  return fmt::format("set origin {},{}\nset size 0.5,{}\nset title {}\nset ylabel {}\n", 0.5 * column,
                     kPanelsLegend, 1 - kPanelsLegend, Quote(title), Quote(axis));
}

std::optional<Bounds> BoundsOf(const std::vector<const Group*>& groups, double AnalysedRun::*value,
                               double scale) {
  std::vector<double> all;
  for (const Group* group : groups)
    for (const double x : group->Counted(value)) all.push_back(scale * x);
  if (all.empty()) return std::nullopt;
  const auto [low, high] = std::minmax_element(all.begin(), all.end());
  const double margin = std::max(0.05 * (*high - *low), 1e-3 * std::abs(*high) + 1e-9);
  return Bounds{*low - margin, *high + margin};
}

}  // namespace dark::analysis
