#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/figure_style.h"
#include "analysis/figures.h"
#include "analysis/format.h"
#include "analysis/gnuplot.h"

namespace dark::analysis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kPanelWidth = 330, kPanelHeight = 250, kLegendHeight = 64;

// Which curve of a run is drawn, and how.
struct Kind {
  std::vector<CurvePoint> AnalysedRun::*curve;
  std::vector<CurvePoint> AnalysedRun::*trend;
  std::vector<SeriesSpikes> AnalysedRun::*spikes;
  bool logarithmic;
  const char* axis;
};

const Kind kLoss = {&AnalysedRun::loss_curve, &AnalysedRun::loss_trend, &AnalysedRun::loss, false,
                    "training loss (nats)"};
const Kind kGradient = {&AnalysedRun::grad_curve, &AnalysedRun::grad_trend, &AnalysedRun::grad, true,
                        "gradient norm"};

struct Range {
  double low = kInfinity, high = -kInfinity;
  void Add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return !(low <= high); }
};

bool Drawable(const Kind& kind, double y) { return std::isfinite(y) && (!kind.logarithmic || y > 0); }

// A loss that explodes must not flatten all other curves: the axis ends a little above where training started
// and markers of what lies higher sit on its edge.
Range AxisRange(const Kind& kind, const std::vector<const Arm*>& arms) {
  Range all, starts;
  for (const Arm* arm : arms)
    for (const Group& group : arm->groups)
      for (const AnalysedRun* run : group.runs)
        for (std::size_t i = 0; i < (run->*kind.curve).size(); ++i) {
          const double y = (run->*kind.curve)[i].y;
          if (!Drawable(kind, y)) continue;
          all.Add(y);
          if (i == 0) starts.Add(y);
        }
  if (all.empty()) return {0.1, 1};
  if (kind.logarithmic) return {all.low / 1.3, all.high * 1.3 + 1e-300};
  const double start = starts.empty() ? all.high : starts.high;
  const double top = all.high <= 1.5 * start ? all.high : 1.15 * start;
  const double margin = 0.04 * std::max(top - all.low, 1e-6);
  return {all.low - margin, top + margin};
}

double LastStep(const std::vector<const Arm*>& arms) {
  std::int64_t last = 1;
  for (const Arm* arm : arms)
    for (const Group& group : arm->groups)
      for (const AnalysedRun* run : group.runs) last = std::max({last, run->steps_done, run->steps_planned});
  return static_cast<double>(last);
}

std::vector<CurvePoint> SpikeMarks(const Kind& kind, const AnalysedRun& run, const Range& range) {
  std::vector<CurvePoint> marks;
  for (const Event& event : (run.*kind.spikes).back().events) {
    const double y = event.relative * event.baseline;
    if (event.rise) marks.push_back({static_cast<double>(event.peak), std::min(y, range.high)});
  }
  return marks;
}

std::vector<CurvePoint> DeathMark(const Kind& kind, const AnalysedRun& run, const Range& range) {
  const Divergence& finite = run.divergence.front();
  if (finite.answer != Divergence::Answer::kYes) return {};
  CurvePoint last{0, range.high};
  for (const CurvePoint& point : run.*kind.curve)
    if (Drawable(kind, point.y)) last = point;
  if (finite.step) last.x = static_cast<double>(*finite.step);
  last.y = std::clamp(last.y, range.low, range.high);
  return {last};
}

// The panel of one learning rate: data blocks first, then the plot command that names them.
std::string Panel(const Kind& kind, const std::vector<const Arm*>& arms, double lr, const Range& range) {
  const std::vector<ArmStyle> styles = StylesOf(arms);
  std::string blocks, plots, marks;
  int block = 0;
  const auto add = [&](std::string& to, const std::vector<CurvePoint>& points, const std::string& look) {
    if (std::none_of(points.begin(), points.end(), [&](const CurvePoint& p) { return Drawable(kind, p.y); }))
      return;
    const std::string name = fmt::format("d{}", block++);
    blocks += DataBlock(name, points);
    to += fmt::format(", ${} {}", name, look);
  };
  std::string raw;
  for (std::size_t a = 0; a < arms.size(); ++a) {
    const Group* group = arms[a]->At(lr);
    if (group == nullptr) continue;
    const std::string& colour = styles[a].colour;
    for (const AnalysedRun* run : group->runs) {
      add(raw, run->*kind.curve, fmt::format("with lines lw 0.6 lc rgb \"#90{}\"", colour.substr(1)));
      add(plots, run->*kind.trend, Line(styles[a], 1.6));
      add(marks, SpikeMarks(kind, *run, range), fmt::format("with points pt 8 ps 0.9 lc rgb \"{}\"", colour));
      add(marks, DeathMark(kind, *run, range), fmt::format("with points pt 2 ps 1.4 lc rgb \"{}\"", colour));
    }
  }
  return blocks +
         fmt::format("set title {}\nplot NaN notitle{}{}{}\n", Quote("lr " + Lr(lr)), raw, plots, marks);
}

std::string Curves(const Kind& kind, const std::vector<const Arm*>& arms, const std::vector<double>& lrs) {
  const int columns = std::min<int>(3, static_cast<int>(lrs.size()));
  const int rows = (static_cast<int>(lrs.size()) + columns - 1) / columns;
  const int width = std::max(columns * kPanelWidth, 2 * kPanelWidth);
  const int height = rows * kPanelHeight + kLegendHeight;
  const Range range = AxisRange(kind, arms);
  std::string script = OpenFigure(width, height) + "set multiplot\n";
  script += fmt::format("set xrange [0:{}]\nset yrange [{}:{}]\nset xlabel 'step'\n", LastStep(arms),
                        range.low, range.high);
  if (kind.logarithmic) script += "set logscale y\nset format y '%g'\n";
  const double share = static_cast<double>(kPanelHeight) / height;
  for (int i = 0; i < static_cast<int>(lrs.size()); ++i) {
    const int column = i % columns, row = i / columns;
    script += fmt::format("set origin {},{}\nset size {},{}\n", static_cast<double>(column) / columns,
                          1 - (row + 1) * share, 1.0 / columns, share);
    script += column == 0 ? fmt::format("set ylabel '{}'\n", kind.axis) : "unset ylabel\n";
    script += Panel(kind, arms, lrs[i], range);
  }
  const std::vector<ArmStyle> styles = StylesOf(arms);
  std::vector<LegendEntry> legend;
  for (std::size_t a = 0; a < arms.size(); ++a) legend.push_back({arms[a]->label, Line(styles[a], 2)});
  legend.push_back({"spike", fmt::format("with points pt 8 ps 0.9 lc rgb \"{}\"", kInk)});
  legend.push_back({"diverged", fmt::format("with points pt 2 ps 1.4 lc rgb \"{}\"", kInk)});
  return script + Legend(legend, 0, static_cast<double>(kLegendHeight) / height) + "unset multiplot\n";
}

std::vector<Figure> EachFeatureCount(const Kind& kind, const Section& section, const std::string& id,
                                     const std::string& title, const std::string& caption) {
  std::vector<Figure> figures;
  std::vector<std::optional<std::int64_t>> budgets(section.features.begin(), section.features.end());
  if (budgets.empty()) budgets.push_back(std::nullopt);
  for (const auto& m : budgets) {
    std::vector<const Arm*> arms;
    for (const Arm& arm : section.arms)
      if (!arm.m || arm.m == m) arms.push_back(&arm);
    const std::string suffix = m ? fmt::format("-m{}", *m) : "";
    figures.push_back({id + suffix, m ? fmt::format("{}, m = {}", title, *m) : title, caption,
                       RunGnuplot(Curves(kind, arms, section.lrs))});
  }
  return figures;
}

}  // namespace

std::vector<Figure> LossCurves(const Section& section, const std::string& prefix) {
  return EachFeatureCount(
      kLoss, section, prefix + "loss", "Training loss",
      "Thin: every seed at full resolution, thinned for drawing so that the extremes stay. Thick: mean of 60 "
      "stretches of the run. Triangles: spikes by the robust rule; crosses: where a run stopped being "
      "finite. "
      "The axis ends above the starting loss; what lies higher is marked on its edge.");
}

std::vector<Figure> GradientCurves(const Section& section, const std::string& prefix) {
  return EachFeatureCount(
      kGradient, section, prefix + "gradient", "Gradient norm before clipping",
      "Logarithmic, drawn like the training loss; spikes are those of the gradient norm.");
}

}  // namespace dark::analysis
