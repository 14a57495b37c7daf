#pragma once

#include <string>
#include <vector>

#include "experiments/config/run_config.h"
#include "sweeps/spec.h"

namespace dark {

/// A run's place in a sweep.
struct Trial {
  /// "lr=0.001_attention=performer_m=16_s1-1a2b3c4d": what varies in the sweep, then the first 8 digits of
  /// the id. A folder's name: at most 120 bytes of letters, digits and "=_.+-".
  std::string name;
  std::string id;  ///< ConfigHash of the resolved config: equal ids are the same run, however it was written
  RunConfig config;
};

/// All runs of a sweep, each checked.
struct Sweep {
  std::string name;
  std::string text;                    ///< of the sweep file
  std::vector<std::string> overrides;  ///< "key=value" from the command line
  std::vector<Trial> trials;           ///< in the order of the spec, no id twice
  std::vector<std::string> notices;    ///< what a user may want to know: points merged, rules without effect
};

/// Expands `spec`: base, then `overrides` ("key=value"), then the product of the axes. Every run is resolved
/// and checked here, so a bad point is an Error(kUsage) with its place before anything starts. Excluded
/// points need not be valid. Throws also when nothing is left to run and when an override names a key the
/// sweep varies.
Sweep Expand(const SweepSpec& spec, const std::vector<std::string>& overrides = {});

}  // namespace dark
