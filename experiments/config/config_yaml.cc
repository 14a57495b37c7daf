#include "experiments/config/config_yaml.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "experiments/config/attention_keys.h"
#include "experiments/config/key_table.h"
#include "experiments/config/resolve.h"
#include "experiments/config/setting_value.h"
#include "experiments/config/text.h"

namespace dark {
namespace {

constexpr const char* kVariant = "attention.variant";

const std::vector<std::string>& SectionNames() {
  static const std::vector<std::string> names = [] {
    RunConfig config;
    std::vector<std::string> found;
    for (const Section& section : Bind(config))
      if (!section.name.empty()) found.push_back(section.name);
    return found;
  }();
  return names;
}

bool IsSection(const std::string& name) {
  const std::vector<std::string>& names = SectionNames();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Opens the sections of `map` into dotted keys. Values of settings stay whole: some of them are maps.
std::vector<YamlEntry> Leaves(const YamlNode& map) {
  std::vector<YamlEntry> leaves;
  for (const YamlEntry& entry : map.entries) {
    if (!IsSection(entry.key)) {
      leaves.push_back(entry);
      continue;
    }
    if (entry.value.IsNull()) continue;  // a section whose lines are all commented out
    if (!entry.value.IsMap())
      throw Error(fmt::format("{}: {} is a section: expected a map of its keys, found {}", entry.value.place,
                              entry.key, entry.value.Describe()));
    for (const YamlEntry& inner : entry.value.entries)
      leaves.push_back({entry.key + "." + inner.key, inner.place, inner.value});
  }
  return leaves;
}

void RefuseDuplicates(const std::vector<YamlEntry>& leaves) {
  std::map<std::string, std::string> seen;
  for (const YamlEntry& leaf : leaves)
    if (const auto [first, is_new] = seen.emplace(leaf.key, leaf.place); !is_new)
      throw Error(fmt::format("{}: {} is set twice; first at {}", leaf.place, leaf.key, first->second));
}

bool NamesWholeAttention(const YamlNode& map) {
  const YamlEntry* attention = map.Find("attention");
  return attention != nullptr && attention->value.Find("variant") != nullptr;
}

std::string LastPart(const std::string& key) { return key.substr(key.rfind('.') + 1); }

// The key that a user who wrote `name` most likely meant: the same word in another section, or a slip.
std::string NearestKey(const std::string& name, const std::vector<ConfigKey>& keys) {
  std::vector<std::string> names = SectionNames();
  for (const ConfigKey& key : keys) {
    if (LastPart(key.name) == LastPart(name)) return key.name;
    names.push_back(key.name);
  }
  return NearestName(name, names);
}

}  // namespace

void ConfigBuilder::Apply(const YamlNode& map) {
  if (map.IsNull()) return;
  if (!map.IsMap())
    throw Error(fmt::format("{}: expected a map of config keys, found {}", map.place, map.Describe()));
  std::vector<YamlEntry> leaves = Leaves(map);
  RefuseDuplicates(leaves);
  std::stable_partition(leaves.begin(), leaves.end(),
                        [](const YamlEntry& leaf) { return leaf.key == kVariant; });
  if (NamesWholeAttention(map)) config_.attention = {};
  for (const YamlEntry& leaf : leaves) Assign(leaf);
}

void ConfigBuilder::Set(const std::string& key, const YamlNode& value, const std::string& place) {
  YamlNode map;
  map.kind = YamlNode::Kind::kMap;
  map.place = place;
  map.entries.push_back({key, place, value});
  Apply(map);
}

void ConfigBuilder::Override(const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string key = assignment.substr(0, equals);
  const std::string place = "--set " + key;
  if (equals == std::string::npos) throw Error(place + ": expected key=value");
  const std::string text = assignment.substr(equals + 1);
  const std::vector<ConfigKey> keys = ConfigKeys();
  const bool scalar = std::any_of(keys.begin(), keys.end(), [&](const ConfigKey& known) {
    return known.name == key && known.type != ConfigKey::Type::kTextList &&
           known.type != ConfigKey::Type::kRealMap;
  });
  YamlNode value;
  if (scalar) {
    value.kind = YamlNode::Kind::kScalar;
    value.place = place;
    value.text = text;
  } else {
    value = ParseYaml(text, place);
  }
  Set(key, value, place);
}

void ConfigBuilder::Assign(const YamlEntry& leaf) {
  for (const Section& section : Bind(config_))
    for (const Setting& setting : section.settings) {
      const std::string key = section.name.empty() ? setting.name : section.name + "." + setting.name;
      if (key != leaf.key) continue;
      const AttentionOptions before = config_.attention;
      AssignValue(setting, key, leaf.value);
      if (key == kVariant) config_.attention = SwitchVariant(before, config_.attention.variant);
      places_[key] = leaf.value.place;
      return;
    }
  RejectKey(leaf);
}

RunConfig ConfigBuilder::Resolve() const {
  RunConfig config = config_;
  const std::vector<Problem> problems = dark::Resolve(config);
  if (!problems.empty())
    throw Error(
        fmt::format("{}{}: {}", Blame(problems.front()), problems.front().key, problems.front().message));
  return config;
}

void ConfigBuilder::RejectKey(const YamlEntry& leaf) const {
  const std::vector<ConfigKey> keys = ConfigKeys();
  const auto known =
      std::find_if(keys.begin(), keys.end(), [&](const ConfigKey& key) { return key.name == leaf.key; });
  if (known != keys.end())
    throw Error(fmt::format("{}: variant {} has no key {}; variants that have it: {}", leaf.place,
                            config_.attention.variant, leaf.key, Join(known->variants)));
  const std::string nearest = NearestKey(leaf.key, keys);
  throw Error(fmt::format("{}: unknown key '{}'{} ('darkformer keys' lists all)", leaf.place, leaf.key,
                          nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

// A default can be at odds with a key that was set: then that key, which the message names, is the place.
std::string ConfigBuilder::Blame(const Problem& problem) const {
  if (const auto found = places_.find(problem.key); found != places_.end()) return found->second + ": ";
  const std::string section = problem.key.substr(0, problem.key.rfind('.') + 1);
  for (const auto& [key, place] : places_)
    if (key.rfind(section, 0) == 0 && problem.message.find(LastPart(key)) != std::string::npos)
      return place + ": ";
  return "";
}

}  // namespace dark
