#include "sweeps/expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/error.h"
#include "experiments/config/config_yaml.h"
#include "sweeps/trial_name.h"

namespace dark {
namespace {

constexpr double kMostPoints = 100000;

using Values = std::map<std::string, std::string>;

/// One combination of axis points.
struct Combination {
  std::vector<const Assignment*> assignments;
};

std::vector<Combination> Product(const std::vector<Axis>& axes) {
  double count = 1;
  for (const Axis& axis : axes) count *= static_cast<double>(axis.points.size());
  if (count > kMostPoints)
    throw Error(fmt::format("the sweep has {:.3g} points; {:.0f} is the most that makes sense here", count,
                            kMostPoints));
  std::vector<Combination> product(1);
  for (const Axis& axis : axes) {
    std::vector<Combination> longer;
    longer.reserve(product.size() * axis.points.size());
    for (const Combination& combination : product)
      for (const auto& point : axis.points) {
        longer.push_back(combination);
        for (const Assignment& assignment : point) longer.back().assignments.push_back(&assignment);
      }
    product = std::move(longer);
  }
  return product;
}

/// Scalars as the spec wrote them; sections are flattened.
void AddWritten(const std::string& key, const YamlNode& node, Values& values) {
  if (node.IsScalar()) values[key] = node.text;
  for (const YamlEntry& entry : node.entries) AddWritten(key + "." + entry.key, entry.value, values);
}

void RefuseOverridesOfAxes(const SweepSpec& spec, const std::vector<std::string>& overrides) {
  for (const std::string& override : overrides) {
    const std::string key = override.substr(0, override.find('='));
    for (const Axis& axis : spec.axes)
      for (const Assignment& assignment : axis.points[0])
        if (assignment.key == key || key.rfind(assignment.key + ".", 0) == 0)
          throw Error(fmt::format("--set {}: the sweep varies this key at {}", key, assignment.place));
  }
}

std::optional<RunConfig> Build(const ConfigBuilder& base, const Combination& combination, Excluder& exclude) {
  Values written;
  for (const Assignment* a : combination.assignments) AddWritten(a->key, a->value, written);
  // Rules about varied keys come first: a combination may be excluded because it cannot work.
  if (exclude.Drops(written)) return std::nullopt;
  ConfigBuilder builder = base;
  for (const Assignment* a : combination.assignments) builder.Set(a->key, a->value, a->place);
  RunConfig config = builder.Resolve();
  Values resolved;
  for (const auto& [key, value] : FlatConfig(config)) resolved[key] = value;
  if (exclude.Drops(resolved)) return std::nullopt;
  return config;
}

/// The keys the axes set, flattened, in the order first seen: the candidates for a trial's name.
std::vector<std::string> VariedKeys(const std::vector<Axis>& axes) {
  std::vector<std::string> keys;
  const auto add = [&](const std::string& key) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  };
  for (const Axis& axis : axes)
    for (const auto& point : axis.points)
      for (const Assignment& assignment : point) {
        add(assignment.key);
        for (const YamlEntry& entry : assignment.value.entries) add(assignment.key + "." + entry.key);
      }
  return keys;
}

}  // namespace

Sweep Expand(const SweepSpec& spec, const std::vector<std::string>& overrides) {
  RefuseOverridesOfAxes(spec, overrides);
  Sweep sweep{spec.name, spec.text, overrides, {}, {}};
  ConfigBuilder base;
  base.Apply(spec.base);
  for (const std::string& override : overrides) base.Override(override);
  Excluder exclude(spec.exclude);
  std::set<std::string> ids;
  std::size_t merged = 0;
  for (const Combination& combination : Product(spec.axes)) {
    std::optional<RunConfig> config = Build(base, combination, exclude);
    if (!config) continue;
    const std::string id = ConfigHash(*config);
    if (ids.insert(id).second)
      sweep.trials.push_back({"", id, std::move(*config)});
    else
      ++merged;
  }
  if (sweep.trials.empty())
    throw Error(fmt::format("sweep '{}': the exclude rules leave nothing to run", spec.name));
  if (merged > 0)
    sweep.notices.push_back(
        fmt::format("{} of the combinations say the same as others and run once", merged));
  for (std::string& notice : exclude.Unused()) sweep.notices.push_back(std::move(notice));
  NameTrials(VariedKeys(spec.axes), sweep.trials);
  return sweep;
}

}  // namespace dark
