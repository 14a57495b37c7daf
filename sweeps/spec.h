#pragma once

#include <string>
#include <vector>

#include "experiments/config/yaml.h"
#include "sweeps/exclude.h"

namespace dark {

/// One key given a value by the sweep; a whole attention variant is several of them.
struct Assignment {
  std::string key;    ///< dotted
  std::string place;  ///< of the key, "file:line:column"
  YamlNode value;
};

/// One way in which runs differ: a grid list, the `zip` block or the seeds. A point sets one or more keys.
struct Axis {
  std::vector<std::vector<Assignment>> points;
};

/// A sweep file, checked for shape but not yet expanded:
///
///     name: tiny                     # default: the file's name without .yaml
///     base: {train: {steps: 100}}    # a config, or the path of one beside this file
///     grid:                          # every combination, in the order written
///       optim.lr: [1e-3, 3e-3]
///       attention:                   # lists inside a variant expand that variant only
///         - exact
///         - {variant: performer, m: [16, 64]}
///     zip:                           # equally long lists that go together
///       train.batch: [8, 16]
///       train.steps: [200, 100]
///     seeds: 3                       # 1, 2, 3; or a list
///     exclude:                       # combinations to leave out
///       - {attention.variant: exact, optim.lr: 3e-3}
struct SweepSpec {
  std::string name;
  std::string text;        ///< the file as it was read
  YamlNode base;           ///< a map, or null
  std::vector<Axis> axes;  ///< slowest first: grid in the order written, zip, seeds
  std::vector<ExcludeRule> exclude;
};

/// Reads a sweep file. Throws Error(kUsage) "file:line:column: …" for anything but the keys above, for empty
/// or uneven lists, for a value listed twice ("1e-4 and 0.0001 are the same value") and for a key varied
/// twice.
SweepSpec LoadSpec(const std::string& path);
/// The same from text; `origin` stands for the path.
SweepSpec ParseSpec(const std::string& text, const std::string& origin);

}  // namespace dark
