#include "analysis/claims.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/comparison.h"
#include "analysis/format.h"

namespace dark::analysis {
namespace {

constexpr const char* kDark = "darkformer";
constexpr const char* kPerformer = "performer";

using ArmPair = std::pair<const Arm*, const Arm*>;

// Collects comparisons of one claim; `side` is +1 when a positive difference speaks for it, −1 otherwise.
class Judge {
 public:
  Judge(std::string statement, int side) : side_(side) { claim_.statement = std::move(statement); }

  void Add(const std::string& what, const Estimate& difference) {
    claim_.evidence.push_back(what);
    if (!difference.half) return;
    ++comparisons_;
    if (side_ * difference.mean - *difference.half > 0) ++shown_;
  }
  void Lacks(const std::string& why) { claim_.evidence.push_back(why); }

  Claim Verdict() {
    if (comparisons_ > 0)
      claim_.answer = shown_ == comparisons_ ? Claim::Answer::kShown : Claim::Answer::kNotShown;
    return claim_;
  }

 private:
  int side_;
  int comparisons_ = 0, shown_ = 0;
  Claim claim_;
};

std::string AtBest(const Arm& a, const Arm& b) {
  return fmt::format("best lr {} and {}", Lr(*a.sensitivity.best_lr), Lr(*b.sensitivity.best_lr));
}

// Tells what a comparison lacks, or "" when both arms have a best learning rate.
std::string NoBest(const Arm& a, const Arm& b) {
  for (const Arm* arm : {&a, &b})
    if (arm->Best() == nullptr)
      return fmt::format("{} has no learning rate at which every finished run stayed stable", arm->label);
  return "";
}

Claim Accuracy(const std::vector<ArmPair>& pairs) {
  Judge judge("DARKFormer predicts more next tokens right than Performer at equal m.", +1);
  for (const auto& [dark, performer] : pairs) {
    if (const std::string why = NoBest(*dark, *performer); !why.empty()) {
      judge.Lacks(why);
      continue;
    }
    SeedValues difference = Minus(BySeed(dark->Best(), &AnalysedRun::final_accuracy),
                                  BySeed(performer->Best(), &AnalysedRun::final_accuracy));
    for (auto& [seed, value] : difference) value *= 100;
    const Estimate points = OverSeeds(difference);
    judge.Add(fmt::format("{} − {}: {} percentage points ({})", dark->label, performer->label,
                          Signed(points, 2), AtBest(*dark, *performer)),
              points);
  }
  return judge.Verdict();
}

Claim Gap(const Section& section, const std::vector<ArmPair>& pairs) {
  Judge judge("DARKFormer's gap to exact attention is narrower than Performer's.", -1);
  for (const auto& [dark, performer] : pairs)
    for (const Arm& exact : section.arms) {
      if (exact.variant != "exact" || !Comparable(*dark, exact) || !Comparable(*performer, exact)) continue;
      std::string why = NoBest(*dark, *performer);
      if (why.empty()) why = NoBest(exact, exact);
      if (!why.empty()) {
        judge.Lacks(why);
        continue;
      }
      const SeedValues ceiling = BySeed(exact.Best(), &AnalysedRun::final_loss);
      const SeedValues ours = Minus(BySeed(dark->Best(), &AnalysedRun::final_loss), ceiling);
      const SeedValues theirs = Minus(BySeed(performer->Best(), &AnalysedRun::final_loss), ceiling);
      const Estimate difference = OverSeeds(Minus(ours, theirs));
      judge.Add(fmt::format("gap of {}: {} nats; of {}: {} nats; difference {} nats ({})", dark->label,
                            Signed(OverSeeds(ours), 3), performer->label, Signed(OverSeeds(theirs), 3),
                            Signed(difference, 3), AtBest(*dark, *performer)),
                difference);
    }
  if (section.Find("exact") == nullptr) judge.Lacks("no run with exact attention");
  return judge.Verdict();
}

SeedValues SensitivityBySeed(const Arm& arm) {
  SeedValues values;
  for (std::size_t i = 0; i < arm.sensitivity.seeds.size(); ++i)
    values[arm.sensitivity.seeds[i]] = arm.sensitivity.per_seed[i];
  return values;
}

Claim Sensitivity(const std::vector<ArmPair>& pairs) {
  Judge judge("DARKFormer is less sensitive to the learning rate than Performer (smaller S).", -1);
  for (const auto& [dark, performer] : pairs) {
    bool computable = true;
    for (const Arm* arm : {dark, performer})
      if (!arm->sensitivity.mean()) {
        judge.Lacks(fmt::format("{}: S {}", arm->label, arm->sensitivity.why_not));
        computable = false;
      }
    if (!computable) continue;
    if (dark->sensitivity.lrs != performer->sensitivity.lrs) {
      judge.Lacks(fmt::format("{} and {} ran on different grids: their S cannot be compared", dark->label,
                              performer->label));
      continue;
    }
    const Estimate difference = OverSeeds(Minus(SensitivityBySeed(*dark), SensitivityBySeed(*performer)));
    judge.Add(fmt::format("S of {}: {}; of {}: {}; difference {}", dark->label,
                          Plain(OverSeeds(SensitivityBySeed(*dark)), 3), performer->label,
                          Plain(OverSeeds(SensitivityBySeed(*performer)), 3), Signed(difference, 3)),
              difference);
  }
  return judge.Verdict();
}

SeedValues LossOfSaving(const Arm& small, const Arm& large) {
  return Minus(BySeed(small.Best(), &AnalysedRun::final_loss),
               BySeed(large.Best(), &AnalysedRun::final_loss));
}

Claim SmallBudget(const std::vector<ArmPair>& pairs) {
  Judge judge("With few random features DARKFormer holds up better than Performer.", -1);
  std::vector<std::int64_t> features;
  for (const auto& [dark, performer] : pairs) features.push_back(dark->m.value_or(0));
  const auto [least, most] = std::minmax_element(features.begin(), features.end());
  if (features.empty() || *least == *most) {
    if (!features.empty()) judge.Lacks("needs runs at two values of m or more");
    return judge.Verdict();
  }
  for (const auto& [dark, performer] : pairs)
    for (const auto& [dark_most, performer_most] : pairs) {
      if (dark->m != *least || dark_most->m != *most || !SameButFeatures(*dark, *dark_most) ||
          !SameButFeatures(*performer, *performer_most))
        continue;
      std::string why = NoBest(*dark, *performer);
      if (why.empty()) why = NoBest(*dark_most, *performer_most);
      if (!why.empty()) {
        judge.Lacks(why);
        continue;
      }
      const SeedValues ours = LossOfSaving(*dark, *dark_most);
      const SeedValues theirs = LossOfSaving(*performer, *performer_most);
      const Estimate difference = OverSeeds(Minus(ours, theirs));
      judge.Add(fmt::format("from m={} to m={} {} loses {} nats, {} {}; difference {}", *most, *least,
                            dark->variant, Signed(OverSeeds(ours), 3), performer->variant,
                            Signed(OverSeeds(theirs), 3), Signed(difference, 3)),
                difference);
    }
  return judge.Verdict();
}

}  // namespace

const char* Name(Claim::Answer answer) {
  switch (answer) {
    case Claim::Answer::kShown:
      return "Shown";
    case Claim::Answer::kNotShown:
      return "Not shown";
    case Claim::Answer::kNotComputable:
      break;
  }
  return "Not computable from these runs";
}

std::vector<Claim> JudgeClaims(const Section& section) {
  const std::vector<ArmPair> pairs = Pairs(section, kDark, kPerformer);
  std::vector<Claim> claims = {Accuracy(pairs), Gap(section, pairs), Sensitivity(pairs), SmallBudget(pairs)};
  if (pairs.empty())
    for (Claim& claim : claims)
      claim.evidence = {"no DARKFormer and Performer runs that differ in nothing else"};
  return claims;
}

}  // namespace dark::analysis
