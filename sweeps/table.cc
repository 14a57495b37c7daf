#include "sweeps/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dark {
namespace {

constexpr std::size_t kGap = 2;            // blanks between columns
constexpr std::size_t kShortestName = 14;  // of the first column, before other columns leave for it

std::size_t Total(const std::vector<std::size_t>& widths, const std::vector<bool>& shown) {
  std::size_t total = 0;
  for (std::size_t c = 0; c < widths.size(); ++c)
    if (shown[c]) total += widths[c] + (c == 0 ? 0 : kGap);
  return total;
}

/// Hides columns and narrows the first until the table fits.
void Fit(const std::vector<Column>& columns, std::size_t width, std::vector<std::size_t>& widths,
         std::vector<bool>& shown) {
  const std::size_t wanted = widths[0];
  widths[0] = std::min(wanted, kShortestName);
  while (Total(widths, shown) > width) {
    std::size_t victim = 0;
    for (std::size_t c = 1; c < columns.size(); ++c)
      if (shown[c] && columns[c].drop > (victim == 0 ? 0 : columns[victim].drop)) victim = c;
    if (victim == 0) break;
    shown[victim] = false;
  }
  const std::size_t rest = Total(widths, shown) - widths[0];
  widths[0] = std::min(wanted, width > rest + 1 ? width - rest : std::size_t{1});
}

std::string Scaled(double value, double step, const std::vector<const char*>& units, const char* gap) {
  std::size_t unit = 0;
  while (value >= 0.9995 * step && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  return fmt::format("{:.{}f}{}{}", value, unit == 0 || value >= 99.95 ? 0 : 1, gap, units[unit]);
}

}  // namespace

std::string Shorten(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  if (width <= 2) return text.substr(0, width);
  const std::size_t tail = std::min((width - 2) / 2, std::size_t{12});
  return text.substr(0, width - 2 - tail) + ".." + text.substr(text.size() - tail);
}

std::vector<std::string> FormatTable(const std::vector<Column>& columns,
                                     const std::vector<std::vector<std::string>>& rows, std::size_t width) {
  std::vector<std::size_t> widths;
  for (const Column& column : columns) widths.push_back(column.title.size());
  for (const auto& row : rows)
    for (std::size_t c = 0; c < columns.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::vector<bool> shown(columns.size(), true);
  if (width > 0) Fit(columns, width, widths, shown);

  const auto line = [&](const auto& cell) {
    std::string text;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!shown[c]) continue;
      if (c > 0) text.append(kGap, ' ');
      const std::string value = Shorten(cell(c), widths[c]);
      text += columns[c].right ? fmt::format("{:>{}}", value, widths[c])
                               : fmt::format("{:<{}}", value, widths[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return width > 0 && text.size() > width ? text.substr(0, width) : text;
  };
  std::vector<std::string> lines = {line([&](std::size_t c) { return columns[c].title; })};
  for (const auto& row : rows) lines.push_back(line([&](std::size_t c) { return row[c]; }));
  return lines;
}

std::string HumanBytes(double bytes) { return Scaled(bytes, 1000, {"B", "kB", "MB", "GB", "TB"}, " "); }

std::string HumanCount(double count) { return Scaled(count, 1000, {"", "k", "M", "G", "T"}, ""); }

std::string HumanSeconds(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{}h {:02}m", whole / 3600, whole % 3600 / 60);
  return fmt::format("{}d {:02}h", whole / 86400, whole % 86400 / 3600);
}

}  // namespace dark
