#include "app/setting_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <type_traits>

namespace dark {
namespace {

std::string OptionName(const std::string& setting) {
  std::string name = "--" + setting;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string RangeText(const Setting& setting) {
  const bool below = std::isfinite(setting.max), above = std::isfinite(setting.min);
  if (above && below) return fmt::format("{} to {}", setting.min, setting.max);
  if (above) return fmt::format("at least {}", setting.min);
  return below ? fmt::format("at most {}", setting.max) : "";
}

// CLI11's own checks print ranges as std::to_string does ("0.000100"), hence these two.
CLI::Validator InRange(const Setting& setting) {
  const std::string range = RangeText(setting);
  return CLI::Validator(
      [min = setting.min, max = setting.max, range](const std::string& text) -> std::string {
        double value = 0;
        if (!CLI::detail::lexical_cast(text, value)) return fmt::format("{} is not a number", text);
        return value >= min && value <= max ? "" : fmt::format("{} is not allowed: {}", text, range);
      },
      range);
}

CLI::Validator OneOf(const Setting& setting) {
  std::string all;
  for (const std::string& choice : setting.choices) all += (all.empty() ? "" : ", ") + choice;
  return CLI::Validator(
      [choices = setting.choices, all](const std::string& text) -> std::string {
        if (std::find(choices.begin(), choices.end(), text) != choices.end()) return "";
        const std::string nearest = NearestName(text, choices);
        return fmt::format("{} is not allowed: {}{}", text, all,
                           nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest));
      },
      all);
}

}  // namespace

CLI::Option* AddSettingOption(CLI::App& app, const Setting& setting) {
  CLI::Option* option = std::visit(
      [&](auto* target) -> CLI::Option* {
        if constexpr (std::is_same_v<decltype(target), std::map<std::string, double>*>)
          throw std::logic_error(setting.name + ": a map of names to numbers has its place in a file");
        else
          return app.add_option(OptionName(setting.name), *target, setting.help);
      },
      setting.target);
  option->capture_default_str();
  if (!setting.choices.empty()) option->check(OneOf(setting));
  if (!RangeText(setting).empty()) option->check(InRange(setting));
  return option;
}

}  // namespace dark
