#include "analysis/figure_style.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "analysis/gnuplot.h"

namespace dark::analysis {
namespace {

std::string Colour(const std::string& variant, std::size_t place) {
  static const std::map<std::string, std::string> known = {
      {"exact", kInk},          {"darkformer", "#d55e00"}, {"darkformer-exact", "#e69f00"},
      {"performer", "#0072b2"}, {"lfk", "#009e73"},        {"uniform", "#8c8c8c"}};
  static const std::vector<std::string> others = {"#cc79a7", "#56b4e9", "#b8a800"};
  const auto found = known.find(variant);
  return found != known.end() ? found->second : others[place % others.size()];
}

}  // namespace

std::string OpenFigure(int width, int height) {
  return fmt::format(
      "set encoding utf8\n"
      "set terminal svg noenhanced rounded size {},{} font \"system-ui,DejaVu Sans,sans-serif,12\" "
      "background \"#ffffff\"\n"
      "set border 3 lw 1 lc rgb \"{ink}\"\n"
      "set tics nomirror out scale 0.5 textcolor rgb \"{ink}\"\n"
      "set grid back lt 1 lc rgb \"#b0808080\" lw 0.5\n"
      "set key textcolor rgb \"{ink}\"\n"
      "set xlabel textcolor rgb \"{ink}\" offset 0,0.4\nset ylabel textcolor rgb \"{ink}\" offset 0.8,0\n"
      "set title textcolor rgb \"{ink}\" offset 0,-0.5\n"
      "set tmargin 2\nset bmargin 3\nset rmargin 2\nunset key\n",
      width, height, fmt::arg("ink", kInk));
}

std::vector<ArmStyle> StylesOf(const std::vector<const Arm*>& arms) {
  static const int points[] = {7, 5, 9, 13, 11, 15};
  std::map<std::string, int> seen;
  std::vector<ArmStyle> styles;
  for (const Arm* arm : arms) {
    const bool known = seen.count(arm->variant) > 0;
    const std::size_t place = seen.size() - (known ? 1 : 0);
    const int rank = seen[arm->variant]++;
    styles.push_back({Colour(arm->variant, place), 1 + rank % 5, points[rank % 6]});
  }
  return styles;
}

std::string Quote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted += '\'';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted + "'";
}

std::string DataBlock(const std::string& name, const std::vector<CurvePoint>& points) {
  std::string block = fmt::format("${} << END\n", name);
  std::size_t in_stretch = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!std::isfinite(points[i].y)) {
      if (in_stretch > 0) block += "\n";
      in_stretch = 0;
      continue;
    }
    const std::string line = fmt::format("{:.6g} {:.6g}\n", points[i].x, points[i].y);
    block += line;
    const bool alone = in_stretch++ == 0 && (i + 1 == points.size() || !std::isfinite(points[i + 1].y));
    if (alone) block += line;
  }
  return block + "END\n";
}

std::string Legend(const std::vector<LegendEntry>& entries, double bottom, double height) {
  std::string script = fmt::format(
      "set origin 0,{}\nset size 1,{}\nset lmargin at screen 0.02\nset rmargin at screen 0.98\n"
      "set tmargin 0\nset bmargin 0\nunset border\nunset tics\nunset xlabel\nunset ylabel\nunset title\n"
      "unset logscale\nunset grid\nunset arrow\nunset label\nset xrange [0:1]\nset yrange [0:1]\n"
      "set key horizontal center center samplen 2.5 maxrows 3 width 1\nplot NaN notitle",
      bottom, height);
  for (const LegendEntry& entry : entries)
    script += fmt::format(", keyentry {} title {}", entry.look, Quote(entry.title));
  return script + "\n";
}

std::string Line(const ArmStyle& style, double width) {
  return fmt::format("with lines lw {} dt {} lc rgb \"{}\"", width, style.dash, style.colour);
}

std::string LinePoints(const ArmStyle& style) {
  return fmt::format("with linespoints lw 1.8 dt {} pt {} ps 0.6 lc rgb \"{}\"", style.dash, style.point,
                     style.colour);
}

}  // namespace dark::analysis
