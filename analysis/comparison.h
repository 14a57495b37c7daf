#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/study.h"

namespace dark::analysis {

/// One value a seed.
using SeedValues = std::map<std::int64_t, double>;

/// `value` of the runs of `group` that take part in means; none for a null group.
SeedValues BySeed(const Group* group, double AnalysedRun::*value);
/// a − b at the seeds both have.
SeedValues Minus(const SeedValues& a, const SeedValues& b);
/// Mean over seeds with its 95 % t interval.
Estimate OverSeeds(const SeedValues& values);

/// Whether two arms differ in nothing but the variant and the attention keys only one of them has.
bool Comparable(const Arm& a, const Arm& b);
/// Whether two arms of one variant differ in m and in nothing else.
bool SameButFeatures(const Arm& a, const Arm& b);
/// Every comparable pair of an arm of variant `a` with an arm of variant `b`.
std::vector<std::pair<const Arm*, const Arm*>> Pairs(const Section& section, const std::string& a,
                                                     const std::string& b);

}  // namespace dark::analysis
