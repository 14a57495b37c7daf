#include "sweeps/exclude.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/setting.h"
#include "experiments/config/key_table.h"
#include "sweeps/same_value.h"

namespace dark {
namespace {

bool Matches(const ExcludeRule& rule, const std::map<std::string, std::string>& values) {
  return std::all_of(rule.conditions.begin(), rule.conditions.end(), [&](const auto& condition) {
    const auto found = values.find(condition.key);
    return found != values.end() &&
           std::any_of(condition.values.begin(), condition.values.end(),
                       [&](const std::string& value) { return SameValue(value, found->second); });
  });
}

std::vector<std::string> KnownKeys() {
  std::vector<std::string> names;
  for (const ConfigKey& key : ConfigKeys()) names.push_back(key.name);
  return names;
}

std::vector<std::string> ConditionValues(const std::string& key, const YamlNode& node) {
  std::vector<std::string> values;
  for (const YamlNode& value : node.IsList() ? node.items : std::vector<YamlNode>{node}) {
    if (!value.IsScalar())
      FailAt(value.place,
             fmt::format("'{}' needs a value or a list of values, found {}", key, value.Describe()));
    values.push_back(value.text);
  }
  return values;
}

void AddConditions(const YamlNode& map, const std::string& prefix, ExcludeRule& rule) {
  static const std::vector<std::string> known = KnownKeys();
  for (const YamlEntry& entry : map.entries) {
    std::string key = prefix + entry.key;
    if (entry.value.IsMap()) {
      AddConditions(entry.value, key + ".", rule);
      continue;
    }
    if (key == "attention") key = "attention.variant";
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      const std::string nearest = NearestName(key, known);
      FailAt(entry.place, fmt::format("unknown key '{}'{}", key,
                                      nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
    }
    rule.conditions.push_back({key, ConditionValues(key, entry.value)});
  }
}

}  // namespace

std::vector<ExcludeRule> ReadExclude(const YamlEntry& entry) {
  std::vector<ExcludeRule> rules;
  if (!entry.value.IsList())
    FailAt(entry.value.place,
           fmt::format("'exclude' needs a list of maps, found {}", entry.value.Describe()));
  for (const YamlNode& node : entry.value.items) {
    if (!node.IsMap() || node.entries.empty())
      FailAt(node.place,
             fmt::format("an exclude rule is a map from keys to values, found {}", node.Describe()));
    rules.push_back({node.place, {}});
    AddConditions(node, "", rules.back());
  }
  return rules;
}

bool Excluder::Drops(const std::map<std::string, std::string>& values) {
  bool drops = false;
  for (std::size_t i = 0; i < rules_.size(); ++i)
    if (Matches(rules_[i], values)) drops = used_[i] = true;
  return drops;
}

std::vector<std::string> Excluder::Unused() const {
  std::vector<std::string> notices;
  for (std::size_t i = 0; i < rules_.size(); ++i)
    if (!used_[i]) notices.push_back(rules_[i].place + ": this exclude rule matches no run");
  return notices;
}

}  // namespace dark
