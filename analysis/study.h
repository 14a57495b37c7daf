#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/analysed_run.h"
#include "analysis/sensitivity.h"
#include "analysis/statistics.h"

namespace dark::analysis {

/// The runs of one arm at one learning rate, one a seed.
struct Group {
  double lr = 0;
  std::vector<const AnalysedRun*> runs;  ///< by seed

  std::vector<double> Counted(double AnalysedRun::*value) const;  ///< of the runs that take part in means
  std::size_t diverged() const;
  std::size_t unjudged() const;  ///< running, stopped or failed
};

/// One thing that is compared: an attention variant with all its settings but learning rate and seed.
struct Arm {
  std::map<std::string, std::string> keys;  ///< the config keys that differ within the section; "" = has none
  std::string label;                        ///< "darkformer m=64"; further keys follow when they differ
  std::string variant;
  std::optional<std::int64_t> m;
  std::vector<Group> groups;  ///< by ascending learning rate
  LrSensitivity sensitivity;

  const Group* At(double lr) const;  ///< null when this arm has no run there
  /// At the best learning rate; null when at every one some run diverged or none finished.
  const Group* Best() const;
};

/// Runs that may be compared: they were validated on the same tokens.
struct Section {
  std::string split_hash;
  std::vector<const AnalysedRun*> runs;
  std::vector<std::string> differing;  ///< config keys that differ, without seed and optim.lr
  std::vector<Arm> arms;               ///< exact first, uniform last, features ascending
  std::vector<double> lrs;
  std::vector<std::int64_t> features;  ///< the values of m
  std::vector<std::int64_t> seeds;
  std::vector<std::string> missing;  ///< seeds that an arm has at some learning rate but not at this one

  const Arm* Find(const std::string& variant) const;  ///< first arm of a variant, null without
};

/// Everything under the reported directories.
struct Study {
  struct Unreadable {
    std::string path;
    std::string reason;
  };
  std::vector<AnalysedRun> runs;  ///< sections point into it
  std::vector<Unreadable> unreadable;
  std::vector<std::string> duplicates;  ///< left out: another file holds the same trial
  std::vector<Section> sections;        ///< by split hash

  Study() = default;
  Study(Study&&) = default;
  Study& operator=(Study&&) = default;
};

/// Sorts runs into sections, arms and groups. Of several files with one config hash the one with the most
/// steps is kept: a trial copied or run twice is not two independent results.
Study Arrange(std::vector<AnalysedRun> runs, std::vector<Study::Unreadable> unreadable = {});

/// Reads and analyses every run.h5 (or its journal) under `dirs`, sorted by path; a file that cannot be read
/// is listed and the others still count. Throws Error(kUsage) when a directory is missing or holds no run.
Study ReadStudy(const std::vector<std::string>& dirs);

}  // namespace dark::analysis
