#pragma once

#include <string>
#include <vector>

#include "analysis/decimate.h"
#include "analysis/study.h"

namespace dark::analysis {

// What all figures share: size, type, colours and the few gnuplot phrases. Colours are those of Okabe and Ito
// (told apart with any colour vision), bound to variants, so that a variant looks the same in every report.

/// Opens a script for a figure of `width` × `height` pixels.
std::string OpenFigure(int width, int height);

/// How an arm is drawn: colour by variant, dash and point by its place among the arms of that variant.
struct ArmStyle {
  std::string colour;  ///< "#rrggbb"
  int dash = 1;
  int point = 7;
};
/// One style for each of `arms`.
std::vector<ArmStyle> StylesOf(const std::vector<const Arm*>& arms);

/// `text` as a gnuplot string.
std::string Quote(const std::string& text);

/// A data block `$name` of a curve. NaN lifts the pen; a point alone between two gaps is doubled, because a
/// line of one point would be invisible.
std::string DataBlock(const std::string& name, const std::vector<CurvePoint>& points);

/// A strip of legend entries across the figure, `top` and `height` as shares of the figure.
struct LegendEntry {
  std::string title;
  std::string look;  ///< such as "with lines lw 2"
};
std::string Legend(const std::vector<LegendEntry>& entries, double bottom, double height);

/// "with lines …" and so on for an arm.
std::string Line(const ArmStyle& style, double width);
std::string LinePoints(const ArmStyle& style);

}  // namespace dark::analysis
