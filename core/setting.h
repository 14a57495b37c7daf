#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace dark {

using Index = std::int64_t;

/// One setting, declared once: its name, where its value lives, what it means and what is allowed.
/// The default is the value the target has in a default-constructed options struct. Parser, printer,
/// validation, `darkformer keys` and the README table all read these declarations and nothing else.
struct Setting {
  using Target = std::variant<bool*, Index*, double*, std::string*, std::vector<std::string>*,
                              std::map<std::string, double>*>;

  Setting(std::string setting_name, Target bound_to, std::string what_it_is)
      : name(std::move(setting_name)), target(bound_to), help(std::move(what_it_is)) {}
  /// A number between `lowest` and `highest`, both allowed.
  Setting(std::string setting_name, Target bound_to, std::string what_it_is, double lowest, double highest)
      : name(std::move(setting_name)),
        target(bound_to),
        help(std::move(what_it_is)),
        min(lowest),
        max(highest) {}
  /// A text that is one of `allowed`.
  Setting(std::string setting_name, Target bound_to, std::string what_it_is, std::vector<std::string> allowed)
      : name(std::move(setting_name)),
        target(bound_to),
        help(std::move(what_it_is)),
        choices(std::move(allowed)) {}

  std::string name;
  Target target;
  std::string help;
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices;  ///< empty allows any text
};

/// What is wrong with a combination of settings; `key` names the setting to blame.
struct Problem {
  std::string key;
  std::string message;
};

/// The candidate closest to `name` by edit distance, or "" when none is close enough to be a slip of the pen.
std::string NearestName(const std::string& name, const std::vector<std::string>& candidates);

}  // namespace dark
