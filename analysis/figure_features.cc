#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "analysis/figure_panels.h"
#include "analysis/figures.h"
#include "analysis/gnuplot.h"
#include "analysis/health.h"

namespace dark::analysis {
namespace {

// Arms that differ in m only form one line; an arm without m is a level.
struct FeatureLine {
  std::string title;
  std::vector<const Arm*> arms;
  ArmStyle style;
  bool level() const { return !arms.front()->m.has_value(); }
};

std::string TitleWithoutM(const Arm& arm) {
  std::string label = arm.label;
  if (!arm.m) return label;
  const std::string m = fmt::format(" m={}", *arm.m);
  return label.erase(label.find(m), m.size());
}

std::vector<FeatureLine> LinesOf(const Section& section) {
  std::vector<FeatureLine> lines;
  std::map<std::map<std::string, std::string>, std::size_t> place;
  for (const Arm& arm : section.arms) {
    std::map<std::string, std::string> keys = arm.keys;
    keys.erase("attention.m");
    const auto [at, fresh] = place.try_emplace(keys, lines.size());
    if (fresh) lines.push_back({TitleWithoutM(arm), {}, {}});
    lines[at->second].arms.push_back(&arm);
  }
  std::vector<const Arm*> firsts;
  for (const FeatureLine& line : lines) firsts.push_back(line.arms.front());
  const std::vector<ArmStyle> styles = StylesOf(firsts);
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i].style = styles[i];
  return lines;
}

std::string LevelLook(const ArmStyle& style) {
  return fmt::format("with lines lw 1.8 dt 2 lc rgb \"{}\"", style.colour);
}

std::string Panel(const Section& section, const std::vector<FeatureLine>& lines, double AnalysedRun::*value,
                  double scale, const std::string& tag) {
  const double left = static_cast<double>(section.features.front()) / 1.3;
  const double right = static_cast<double>(section.features.back()) * 1.3;
  std::string blocks, plots;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::vector<Spread> points;
    for (const Arm* arm : lines[i].arms)
      if (const auto p = SpreadOf(arm->Best(), static_cast<double>(arm->m.value_or(0)), value, scale))
        points.push_back(*p);
    if (points.empty()) continue;
    const std::string name = fmt::format("{}{}", tag, i);
    if (lines[i].level()) {
      const double level = points.front().mean;
      points = {{left, level, level, level}, {right, level, level, level}};
      plots += fmt::format(", ${} using 1:2 {}", name, LevelLook(lines[i].style));
    } else {
      plots += Spreads(name, lines[i].style);
    }
    blocks += SpreadBlock(name, points);
  }
  return blocks + "plot NaN notitle" + plots + "\n";
}

std::string FeatureAxis(const std::vector<std::int64_t>& features) {
  return fmt::format("set logscale x 2\nset xlabel 'random features m'\nset xrange [{}:{}]\nset xtics ({})\n",
                     static_cast<double>(features.front()) / 1.3, static_cast<double>(features.back()) * 1.3,
                     fmt::join(features, ", "));
}

// At the best learning rate; where some run diverged at every one, at the first with readings.
double KernelError(const Arm& arm) {
  if (arm.Best() != nullptr)
    if (const auto health = HealthOf(*arm.Best())) return health->kernel_error;
  for (const Group& group : arm.groups)
    if (const auto health = HealthOf(group)) return health->kernel_error;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::optional<Figure> AgainstFeatures(const Section& section, const std::string& prefix) {
  std::vector<const Group*> groups;
  for (const Arm& arm : section.arms)
    if (arm.Best() != nullptr) groups.push_back(arm.Best());
  const auto loss = BoundsOf(groups, &AnalysedRun::final_loss, 1);
  const auto accuracy = BoundsOf(groups, &AnalysedRun::final_accuracy, 100);
  if (section.features.size() < 2 || !loss || !accuracy) return std::nullopt;
  const std::vector<FeatureLine> lines = LinesOf(section);
  std::string script =
      OpenFigure(kPanelsWidth, kPanelsHeight) + "set multiplot\n" + FeatureAxis(section.features);
  script += PanelFrame(0, "Final validation loss", "nats per token");
  script += fmt::format("set yrange [{}:{}]\n", loss->low, loss->high);
  script += Panel(section, lines, &AnalysedRun::final_loss, 1, "l");
  script += PanelFrame(1, "Final next-token accuracy", "% right");
  script += fmt::format("set yrange [{}:{}]\n", accuracy->low, accuracy->high);
  script += Panel(section, lines, &AnalysedRun::final_accuracy, 100, "a");
  std::vector<LegendEntry> entries;
  for (const FeatureLine& line : lines)
    entries.push_back({line.title, line.level() ? LevelLook(line.style) : LinePoints(line.style)});
  script += Legend(entries, 0, kPanelsLegend) + "unset multiplot\n";
  return Figure{
      prefix + "against-m", "Final validation loss and accuracy against the number of random features",
      "Every arm at its best learning rate; mean over seeds, bars from the lowest to the highest seed. "
      "Dashed levels: arms without random features.",
      RunGnuplot(script)};
}

std::optional<Figure> KernelErrorAgainstFeatures(const Section& section, const std::string& prefix) {
  if (section.features.size() < 2) return std::nullopt;
  std::string blocks, plots;
  std::vector<LegendEntry> entries;
  double anchor = 0;
  for (const FeatureLine& line : LinesOf(section)) {
    std::vector<CurvePoint> points;
    for (const Arm* arm : line.arms)
      if (const double error = KernelError(*arm); arm->m && error > 0)
        points.push_back({static_cast<double>(*arm->m), error});
    if (points.empty()) continue;
    anchor = std::max(anchor, points.front().y * std::sqrt(points.front().x));
    const std::string name = fmt::format("k{}", entries.size());
    blocks += DataBlock(name, points);
    plots += fmt::format(", ${} {}", name, LinePoints(line.style));
    entries.push_back({line.title, LinePoints(line.style)});
  }
  if (entries.empty()) return std::nullopt;
  const std::string guide = fmt::format("with lines lw 1 dt 3 lc rgb \"{}\"", kInk);
  entries.push_back({"slope of 1/√m", guide});
  std::string script = OpenFigure(kPanelsWidth * 2 / 3, kPanelsHeight) + "set multiplot\n";
  script += FeatureAxis(section.features) + "set logscale y\nset ylabel 'relative RMS error'\n";
  script += fmt::format("set origin 0,{}\nset size 1,{}\nset title 'Kernel error, target: own kernel'\n{}",
                        kPanelsLegend, 1 - kPanelsLegend, blocks);
  script += fmt::format("plot {} / sqrt(x) {}{}\n", anchor, guide, plots);
  script += Legend(entries, 0, kPanelsLegend) + "unset multiplot\n";
  return Figure{
      prefix + "kernel-error", "Kernel error against the number of random features",
      "Error of the estimated attention output against exact attention with the variant's own kernel, "
      "at the last health reading. Variants with different kernels have different targets: their "
      "errors say how well each is estimated, not how near each is to softmax attention.",
      RunGnuplot(script)};
}

}  // namespace dark::analysis
