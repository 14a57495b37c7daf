#include "sweeps/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "core/files/file.h"
#include "core/setting.h"
#include "sweeps/same_value.h"

namespace dark {
namespace {

constexpr std::size_t kMostSeeds = 10000;

const std::vector<YamlNode>& ValueList(const std::string& key, const YamlNode& node) {
  if (!node.IsList())
    FailAt(node.place,
           fmt::format("'{}' needs a list of values such as [1, 2], found {}", key, node.Describe()));
  if (node.items.empty()) FailAt(node.place, fmt::format("'{}' has an empty list: nothing would run", key));
  for (std::size_t i = 1; i < node.items.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const YamlNode& a = node.items[j];
      const YamlNode& b = node.items[i];
      if (!SameValue(a, b)) continue;
      if (a.IsScalar() && a.text != b.text)
        FailAt(b.place, fmt::format("{} and {} are the same value of '{}'", a.text, b.text, key));
      FailAt(b.place, fmt::format("{} is listed twice for '{}'", b.Describe(), key));
    }
  return node.items;
}

YamlNode Scalar(const std::string& text, const std::string& place) {
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.place = place;
  node.text = text;
  return node;
}

/// One entry of an attention list: a variant's name, or a map whose lists expand. The section as a whole
/// comes first, so that each point starts from its variant's defaults whatever the base says.
void AddAttentionPoints(const std::string& place, const YamlNode& node, Axis& axis) {
  if (!node.IsScalar() && !node.IsMap())
    FailAt(node.place,
           fmt::format("an attention variant is a name or a map with 'variant', found {}", node.Describe()));
  YamlNode map = node;
  if (node.IsScalar()) {
    map = YamlNode();
    map.kind = YamlNode::Kind::kMap;
    map.place = node.place;
    map.entries.push_back({"variant", node.place, Scalar(node.text, node.place)});
  }
  if (map.Find("variant") == nullptr)
    FailAt(node.place, "an attention variant in a sweep needs the key 'variant'");
  std::vector<YamlNode> maps = {map};
  for (std::size_t entry = 0; entry < map.entries.size(); ++entry) {
    const YamlNode& value = map.entries[entry].value;
    if (!value.IsList()) continue;
    std::vector<YamlNode> expanded;
    for (const YamlNode& partial : maps)
      for (const YamlNode& item : ValueList("attention." + map.entries[entry].key, value)) {
        expanded.push_back(partial);
        expanded.back().entries[entry].value = item;
      }
    maps = std::move(expanded);
  }
  for (YamlNode& point : maps) axis.points.push_back({{"attention", place, std::move(point)}});
}

Axis MakeAxis(const std::string& key, const std::string& place, const YamlNode& node) {
  Axis axis;
  for (const YamlNode& value : ValueList(key, node)) {
    if (key == "attention")
      AddAttentionPoints(place, value, axis);
    else
      axis.points.push_back({{key, place, value}});
  }
  return axis;
}

const YamlNode& Map(const YamlEntry& entry) {
  if (!entry.value.IsMap())
    FailAt(entry.value.place, fmt::format("'{}' needs a map from config keys to lists, found {}", entry.key,
                                          entry.value.Describe()));
  return entry.value;
}

/// The axes of a grid or zip map; sections may nest as in a config.
void AddAxes(const YamlNode& map, const std::string& prefix, std::vector<Axis>& axes) {
  for (const YamlEntry& entry : map.entries) {
    const std::string key = prefix + entry.key;
    if (entry.value.IsMap())
      AddAxes(entry.value, key + ".", axes);
    else
      axes.push_back(MakeAxis(key, entry.place, entry.value));
  }
}

Axis Zip(const YamlEntry& entry) {
  std::vector<Axis> columns;
  AddAxes(Map(entry), "", columns);
  if (columns.empty()) FailAt(entry.value.place, "'zip' is empty");
  Axis zipped = columns[0];
  for (std::size_t i = 1; i < columns.size(); ++i) {
    const Assignment& first = columns[i].points[0][0];
    if (columns[i].points.size() != zipped.points.size())
      FailAt(first.place,
             fmt::format("the lists in 'zip' go together: '{}' has {} values, '{}' has {}", first.key,
                         columns[i].points.size(), zipped.points[0][0].key, zipped.points.size()));
    for (std::size_t p = 0; p < zipped.points.size(); ++p)
      zipped.points[p].push_back(columns[i].points[p][0]);
  }
  return zipped;
}

Axis Seeds(const YamlEntry& entry) {
  if (entry.value.IsList()) return MakeAxis("seed", entry.place, entry.value);
  const std::optional<double> count = AsNumber(entry.value.text);
  if (!entry.value.IsScalar() || !count || *count < 1 || *count > kMostSeeds || *count != std::floor(*count))
    FailAt(entry.value.place, fmt::format("'seeds' needs a count from 1 to {} or a list of seeds, found {}",
                                          kMostSeeds, entry.value.Describe()));
  Axis axis;
  for (int seed = 1; seed <= static_cast<int>(*count); ++seed)
    axis.points.push_back({{"seed", entry.place, Scalar(std::to_string(seed), entry.value.place)}});
  return axis;
}

YamlNode Base(const YamlEntry& entry, const std::string& origin) {
  if (entry.value.IsMap() || entry.value.IsNull()) return entry.value;
  if (!entry.value.IsScalar())
    FailAt(entry.value.place,
           fmt::format("'base' needs a config or the path of one, found {}", entry.value.Describe()));
  const std::filesystem::path path = std::filesystem::path(origin).parent_path() / entry.value.text;
  if (!std::filesystem::exists(path)) FailAt(entry.value.place, fmt::format("no file {}", path.string()));
  return LoadYaml(path.string());
}

/// Two axes that set one key, or a section and a key inside it, would silently overwrite each other.
void RefuseOverlap(const std::vector<Axis>& axes) {
  std::vector<Assignment> seen;
  for (const Axis& axis : axes)
    for (const Assignment& b : axis.points[0]) {
      for (const Assignment& a : seen)
        if (a.key == b.key || a.key.rfind(b.key + ".", 0) == 0 || b.key.rfind(a.key + ".", 0) == 0)
          FailAt(b.place, fmt::format("'{}' is varied here and as '{}' at {}", b.key, a.key, a.place));
      seen.push_back(b);
    }
}

void RefuseUnknownKeys(const YamlNode& root) {
  static const std::vector<std::string> keys = {"name", "base", "grid", "zip", "seeds", "exclude"};
  for (const YamlEntry& entry : root.entries) {
    if (std::find(keys.begin(), keys.end(), entry.key) != keys.end()) continue;
    const std::string nearest = NearestName(entry.key, keys);
    std::string hint = nearest.empty() ? "a sweep has" : fmt::format("did you mean '{}'?", nearest);
    if (nearest.empty())
      for (const std::string& key : keys) hint += ' ' + key;
    FailAt(entry.place, fmt::format("unknown key '{}'; {}", entry.key, hint));
  }
}

}  // namespace

SweepSpec ParseSpec(const std::string& text, const std::string& origin) {
  const YamlNode root = ParseYaml(text, origin);
  if (!root.IsMap()) FailAt(origin, fmt::format("a sweep is a map, found {}", root.Describe()));
  RefuseUnknownKeys(root);
  SweepSpec spec;
  spec.text = text;
  spec.name = std::filesystem::path(origin).stem().string();
  if (const YamlEntry* name = root.Find("name")) {
    spec.name = name->value.text;
    if (spec.name.empty() || spec.name[0] == '.' || spec.name.find('/') != std::string::npos)
      FailAt(name->value.place,
             fmt::format("'name' needs a folder's name, found {}", name->value.Describe()));
  }
  if (const YamlEntry* base = root.Find("base")) spec.base = Base(*base, origin);
  if (const YamlEntry* grid = root.Find("grid")) AddAxes(Map(*grid), "", spec.axes);
  if (const YamlEntry* zip = root.Find("zip")) spec.axes.push_back(Zip(*zip));
  if (const YamlEntry* seeds = root.Find("seeds")) spec.axes.push_back(Seeds(*seeds));
  if (const YamlEntry* exclude = root.Find("exclude")) spec.exclude = ReadExclude(*exclude);
  RefuseOverlap(spec.axes);
  return spec;
}

SweepSpec LoadSpec(const std::string& path) { return ParseSpec(ReadFile(path), path); }

}  // namespace dark
