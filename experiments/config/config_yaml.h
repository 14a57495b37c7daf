#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/config/run_config.h"
#include "experiments/config/yaml.h"

namespace dark {

/// A run config being put together: defaults, then YAML maps and single keys in the order given, later ones
/// winning. It remembers where each key was set, so that a complaint about a combination points at a line.
/// A copy is independent, so a sweep applies its base once and copies the builder for each point of the grid.
/// All errors are Error(kUsage) and start with the place of the offending key or value.
///
/// Keys are dotted ("optim.lr", "seed"); a map may nest sections, use dotted keys, or both. Attention keys
/// exist only where the variant has them:
/// - a whole section (`attention: {variant: performer, m: 16}`) that names a variant starts from the defaults
///   of that variant; one that does not changes keys of the present variant;
/// - `attention.variant` alone keeps the keys that both variants have and resets the others.
/// Within one map the variant is read first, wherever it stands.
class ConfigBuilder {
 public:
  /// Applies a map of sections and dotted keys; null (an empty file) changes nothing.
  void Apply(const YamlNode& map);
  /// Sets one key, or a section from a map; `place` is where the key stands, for errors about the key.
  void Set(const std::string& key, const YamlNode& value, const std::string& place);
  /// Sets "key=value" from the command line; the place is "--set key". Values of number, truth-value and text
  /// keys are taken as they are (the shell has unquoted them); lists, maps and sections are YAML.
  void Override(const std::string& assignment);
  /// The config with derived zeros filled in and combinations checked.
  RunConfig Resolve() const;

 private:
  void Assign(const YamlEntry& leaf);
  [[noreturn]] void RejectKey(const YamlEntry& leaf) const;
  std::string Blame(const Problem& problem) const;

  RunConfig config_;
  std::map<std::string, std::string> places_;  // dotted key → place of the value it was last given
};

}  // namespace dark
