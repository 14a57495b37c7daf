#include "analysis/comparison.h"

namespace dark::analysis {

SeedValues BySeed(const Group* group, double AnalysedRun::*value) {
  SeedValues values;
  if (group == nullptr) return values;
  for (const AnalysedRun* run : group->runs)
    if (run->counted()) values[run->seed] = run->*value;
  return values;
}

SeedValues Minus(const SeedValues& a, const SeedValues& b) {
  SeedValues difference;
  for (const auto& [seed, value] : a)
    if (const auto other = b.find(seed); other != b.end()) difference[seed] = value - other->second;
  return difference;
}

Estimate OverSeeds(const SeedValues& values) {
  std::vector<double> plain;
  for (const auto& [seed, value] : values) plain.push_back(value);
  return EstimateMean(plain);
}

bool Comparable(const Arm& a, const Arm& b) {
  for (const auto& [key, value] : a.keys) {
    if (key == "attention.variant") continue;
    const std::string& other = b.keys.at(key);
    const bool lacking = key.starts_with("attention.") && (value.empty() || other.empty());
    if (value != other && !lacking) return false;
  }
  return true;
}

bool SameButFeatures(const Arm& a, const Arm& b) {
  for (const auto& [key, value] : a.keys)
    if (key != "attention.m" && value != b.keys.at(key)) return false;
  return true;
}

std::vector<std::pair<const Arm*, const Arm*>> Pairs(const Section& section, const std::string& a,
                                                     const std::string& b) {
  std::vector<std::pair<const Arm*, const Arm*>> pairs;
  for (const Arm& first : section.arms)
    for (const Arm& second : section.arms)
      if (first.variant == a && second.variant == b && Comparable(first, second))
        pairs.push_back({&first, &second});
  return pairs;
}

}  // namespace dark::analysis
