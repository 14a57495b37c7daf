#pragma once

#include <string>

namespace dark::analysis {

/// The colour for text and axes in scripts; `InlineSvg` turns it into the colour of the page's text.
inline constexpr const char* kInk = "#1f2329";

/// Runs gnuplot on `script`, which writes SVG to standard output, without the user's own settings. Throws
/// Error(kFailed) naming the package to install when gnuplot is missing, or with gnuplot's own words.
std::string RunGnuplot(const std::string& script);

/// The <svg> element of a figure fit for a page with others: no prolog, ids made unique by `id`, text and
/// axes in the page's ink so that they can be read on light and dark.
std::string InlineSvg(const std::string& svg, const std::string& id);

}  // namespace dark::analysis
