#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/figure_panels.h"
#include "analysis/figures.h"
#include "analysis/gnuplot.h"

namespace dark::analysis {
namespace {

std::vector<const Arm*> All(const Section& section) {
  std::vector<const Arm*> arms;
  for (const Arm& arm : section.arms) arms.push_back(&arm);
  return arms;
}

// Smallest factor between neighbours of the grid.
double GridStep(const std::vector<double>& lrs) {
  double step = 10;
  for (std::size_t i = 1; i < lrs.size(); ++i) step = std::min(step, lrs[i] / lrs[i - 1]);
  return step;
}

// Arms at one learning rate stand side by side, not on top of each other.
double Aside(double lr, std::size_t place, std::size_t count, double step) {
  return lr * std::pow(step, 0.35 * ((static_cast<double>(place) + 0.5) / static_cast<double>(count) - 0.5));
}

// One panel; `row` is the height at which crosses for diverged runs go, when the panel has them.
std::string Panel(const Section& section, double AnalysedRun::*value, double scale, std::optional<double> row,
                  const std::string& tag) {
  const std::vector<const Arm*> arms = All(section);
  const std::vector<ArmStyle> styles = StylesOf(arms);
  const double step = GridStep(section.lrs);
  std::string blocks, plots;
  for (std::size_t a = 0; a < arms.size(); ++a) {
    std::vector<Spread> points, dead;
    for (const Group& group : arms[a]->groups) {
      const double x = Aside(group.lr, a, arms.size(), step);
      if (const auto point = SpreadOf(&group, x, value, scale)) points.push_back(*point);
      if (row && group.diverged() > 0) dead.push_back({x, *row, *row, *row});
    }
    const std::string name = fmt::format("{}{}", tag, a);
    if (!points.empty()) {
      blocks += SpreadBlock(name, points);
      plots += Spreads(name, styles[a]);
    }
    if (!dead.empty()) {
      blocks += SpreadBlock(name + "x", dead);
      plots += fmt::format(", ${}x using 1:2 with points pt 2 ps 1.3 lc rgb \"{}\"", name, styles[a].colour);
    }
  }
  return blocks + "plot NaN notitle" + plots + "\n";
}

std::string LrAxis(const std::vector<double>& lrs) {
  const double margin = std::sqrt(GridStep(lrs));
  std::string tics;
  for (const double lr : lrs) tics += fmt::format("{}'{}' {}", tics.empty() ? "" : ", ", lr, lr);
  return fmt::format("set logscale x\nset xlabel 'learning rate'\nset xrange [{}:{}]\nset xtics ({})\n",
                     lrs.front() / margin, lrs.back() * margin, tics);
}

std::string LegendOf(const std::vector<const Arm*>& arms) {
  const std::vector<ArmStyle> styles = StylesOf(arms);
  std::vector<LegendEntry> entries;
  for (std::size_t a = 0; a < arms.size(); ++a) entries.push_back({arms[a]->label, LinePoints(styles[a])});
  return Legend(entries, 0, kPanelsLegend);
}

}  // namespace

std::optional<Figure> AgainstLearningRate(const Section& section, const std::string& prefix) {
  std::vector<const Group*> groups;
  for (const Arm& arm : section.arms)
    for (const Group& group : arm.groups) groups.push_back(&group);
  const auto loss = BoundsOf(groups, &AnalysedRun::final_loss, 1);
  const auto accuracy = BoundsOf(groups, &AnalysedRun::final_accuracy, 100);
  if (!loss || !accuracy || !(section.lrs.front() > 0)) return std::nullopt;
  const double unit = loss->high - loss->low;
  const double row = loss->high + 0.08 * unit;
  std::string script = OpenFigure(kPanelsWidth, kPanelsHeight) + "set multiplot\n" + LrAxis(section.lrs);
  script += PanelFrame(0, "Final validation loss", "nats per token");
  script += fmt::format("set yrange [{}:{}]\n", loss->low, row + 0.06 * unit);
  script +=
      fmt::format("set arrow 1 from graph 0, first {0} to graph 1, first {0} nohead dt 3 lc rgb \"{1}\"\n",
                  loss->high, kInk);
  script +=
      fmt::format("set label 1 'diverged' at graph 0.01, first {} left textcolor rgb \"{}\"\n", row, kInk);
  script += Panel(section, &AnalysedRun::final_loss, 1, row, "l");
  script += "unset arrow 1\nunset label 1\n" + PanelFrame(1, "Final next-token accuracy", "% right");
  script += fmt::format("set yrange [{}:{}]\n", accuracy->low, accuracy->high);
  script += Panel(section, &AnalysedRun::final_accuracy, 100, std::nullopt, "a");
  script += LegendOf(All(section)) + "unset multiplot\n";
  return Figure{
      prefix + "against-lr", "Final validation loss and accuracy against the learning rate",
      "Mean over seeds, bars from the lowest to the highest seed; arms at one learning rate are drawn "
      "side by side. A cross in the row “diverged”: at least one seed diverged there, and a mean shown "
      "at that learning rate is over the others.",
      RunGnuplot(script)};
}

}  // namespace dark::analysis
