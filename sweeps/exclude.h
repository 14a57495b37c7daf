#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/config/yaml.h"

namespace dark {

/// A pattern of runs to leave out: every condition must hold, a condition by any of its values.
struct ExcludeRule {
  struct Condition {
    std::string key;
    std::vector<std::string> values;
  };
  std::string place;
  std::vector<Condition> conditions;
};

/// Reads the `exclude` list of a sweep file. Throws Error(kUsage) with the place of what is no rule and of
/// keys that no run config has.
std::vector<ExcludeRule> ReadExclude(const YamlEntry& entry);

/// The rules of a sweep, and which of them were of use.
class Excluder {
 public:
  explicit Excluder(const std::vector<ExcludeRule>& rules) : rules_(rules), used_(rules.size(), false) {}

  /// Whether a rule matches a run with these values (dotted key → text).
  bool Drops(const std::map<std::string, std::string>& values);
  /// A notice for each rule that never matched.
  std::vector<std::string> Unused() const;

 private:
  const std::vector<ExcludeRule>& rules_;
  std::vector<bool> used_;
};

}  // namespace dark
