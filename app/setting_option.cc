#include "app/setting_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "experiments/config/setting_value.h"

namespace dark {
namespace {

std::string OptionName(const std::string& setting) {
  std::string name = "--" + setting;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// CLI11's own checks print ranges as "[0.000100 - 0.900000]" and know no nearest name.
CLI::Validator InRange(const Setting& setting) {
  const auto check = [setting](const std::string& text) -> std::string {
    double value = 0;
    if (!CLI::detail::lexical_cast(text, value)) return fmt::format("{} is not a number", text);
    if (value >= setting.min && value <= setting.max) return "";
    return fmt::format("{} is not allowed: {}", text, Allowed(setting));
  };
  return CLI::Validator(check, Allowed(setting));
}

CLI::Validator OneOf(const Setting& setting) {
  const auto check = [setting](const std::string& text) -> std::string {
    const auto& choices = setting.choices;
    if (std::find(choices.begin(), choices.end(), text) != choices.end()) return "";
    const std::string nearest = NearestName(text, choices);
    return fmt::format("{} is not allowed: {}{}", text, Allowed(setting),
                       nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest));
  };
  return CLI::Validator(check, Allowed(setting));
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
  if (!setting.choices.empty())
    option->check(OneOf(setting));
  else if (!Allowed(setting).empty())
    option->check(InRange(setting));
  return option;
}

}  // namespace dark
