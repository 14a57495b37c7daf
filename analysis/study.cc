#include "analysis/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace dark::analysis {
namespace {

constexpr const char* kLearningRate = "optim.lr";
constexpr const char* kVariant = "attention.variant";
constexpr const char* kFeatures = "attention.m";

std::string TrialId(const AnalysedRun& run) {
  std::string hash = run.Attribute("config_hash");
  if (!hash.empty()) return hash;
  std::string id;
  for (const auto& [name, value] : run.data.attributes)
    if (name.starts_with("config.")) id += fmt::format("{}={}\n", name, value);
  return id;
}

void DropDuplicates(std::vector<AnalysedRun>& runs, std::vector<std::string>& duplicates) {
  std::map<std::string, const AnalysedRun*> kept;
  for (const AnalysedRun& run : runs) {
    const AnalysedRun*& best = kept[TrialId(run)];
    if (best == nullptr || run.steps_done > best->steps_done) best = &run;
  }
  std::vector<AnalysedRun> left;
  for (AnalysedRun& run : runs) {
    const AnalysedRun* best = kept[TrialId(run)];
    if (best != &run) duplicates.push_back(fmt::format("{} is the same trial as {}", run.path, best->path));
  }
  std::set<const AnalysedRun*> wanted;
  for (const auto& [id, run] : kept) wanted.insert(run);
  for (AnalysedRun& run : runs)
    if (wanted.count(&run)) left.push_back(std::move(run));
  runs = std::move(left);
}

std::vector<std::string> DifferingKeys(const std::vector<const AnalysedRun*>& runs) {
  std::set<std::string> keys;
  for (const AnalysedRun* run : runs)
    for (const auto& [name, value] : run->data.attributes)
      if (name.starts_with("config.")) keys.insert(name.substr(7));
  keys.erase("seed");
  keys.erase(kLearningRate);
  std::vector<std::string> differing;
  for (const std::string& key : keys)
    if (std::any_of(runs.begin(), runs.end(), [&](const AnalysedRun* run) {
          return run->data.Config(key) != runs.front()->data.Config(key);
        }))
      differing.push_back(key);
  return differing;
}

int VariantRank(const std::string& variant) { return variant == "exact" ? 0 : variant == "uniform" ? 2 : 1; }

bool ComesBefore(const Arm& a, const Arm& b) {
  return std::tuple(VariantRank(a.variant), a.variant, a.m, a.keys) <
         std::tuple(VariantRank(b.variant), b.variant, b.m, b.keys);
}

// Variant and m name an arm; other keys join where arms of one variant differ in them, so that the keys a
// variant merely lacks do not clutter its label.
void Label(std::vector<Arm>& arms, const std::vector<std::string>& differing) {
  for (Arm& arm : arms) {
    arm.label = arm.variant.empty() ? "unknown variant" : arm.variant;
    if (arm.m) arm.label += fmt::format(" m={}", *arm.m);
    for (const std::string& key : differing) {
      if (key == kVariant || key == kFeatures) continue;
      const bool differs = std::any_of(arms.begin(), arms.end(), [&](const Arm& other) {
        return other.variant == arm.variant && other.keys.at(key) != arm.keys.at(key);
      });
      if (differs) arm.label += fmt::format(" {}={}", key.substr(key.rfind('.') + 1), arm.keys.at(key));
    }
  }
}

std::vector<Arm> MakeArms(const Section& section) {
  std::map<std::vector<std::string>, std::map<double, Group>> sorted;
  for (const AnalysedRun* run : section.runs) {
    std::vector<std::string> values;
    for (const std::string& key : section.differing) values.push_back(run->data.Config(key));
    Group& group = sorted[values][run->lr];
    group.lr = run->lr;
    group.runs.push_back(run);
  }
  std::vector<Arm> arms;
  for (auto& [values, groups] : sorted) {
    Arm arm;
    for (std::size_t i = 0; i < values.size(); ++i) arm.keys[section.differing[i]] = values[i];
    arm.variant = groups.begin()->second.runs.front()->variant;
    arm.m = groups.begin()->second.runs.front()->m;
    std::vector<LrTrial> trials;
    std::vector<double> lrs;
    for (auto& [lr, group] : groups) {
      std::sort(group.runs.begin(), group.runs.end(),
                [](const AnalysedRun* a, const AnalysedRun* b) { return a->seed < b->seed; });
      for (const AnalysedRun* run : group.runs)
        if (run->judged())
          trials.push_back({run->seed, run->lr, run->counted() ? run->final_loss : LrTrial{}.final_loss,
                            run->initial_loss});
      lrs.push_back(lr);
      arm.groups.push_back(std::move(group));
    }
    arm.sensitivity = Sensitivity(trials, lrs);
    arms.push_back(std::move(arm));
  }
  std::sort(arms.begin(), arms.end(), ComesBefore);
  Label(arms, section.differing);
  return arms;
}

std::vector<std::string> Missing(const Section& section) {
  std::vector<std::string> missing;
  for (const Arm& arm : section.arms)
    for (const double lr : section.lrs) {
      std::set<std::int64_t> absent(section.seeds.begin(), section.seeds.end());
      if (const Group* group = arm.At(lr))
        for (const AnalysedRun* run : group->runs) absent.erase(run->seed);
      if (!absent.empty())
        missing.push_back(
            fmt::format("{} at lr {}: no run with seed {}", arm.label, lr, fmt::join(absent, ", ")));
    }
  return missing;
}

Section MakeSection(const std::string& split_hash, std::vector<const AnalysedRun*> runs) {
  Section section;
  section.split_hash = split_hash;
  section.runs = std::move(runs);
  section.differing = DifferingKeys(section.runs);
  std::set<double> lrs;
  std::set<std::int64_t> features, seeds;
  for (const AnalysedRun* run : section.runs) {
    lrs.insert(run->lr);
    seeds.insert(run->seed);
    if (run->m) features.insert(*run->m);
  }
  section.lrs.assign(lrs.begin(), lrs.end());
  section.features.assign(features.begin(), features.end());
  section.seeds.assign(seeds.begin(), seeds.end());
  section.arms = MakeArms(section);
  section.missing = Missing(section);
  return section;
}

}  // namespace

std::vector<double> Group::Counted(double AnalysedRun::*value) const {
  std::vector<double> values;
  for (const AnalysedRun* run : runs)
    if (run->counted()) values.push_back(run->*value);
  return values;
}

std::size_t Group::diverged() const {
  return std::count_if(runs.begin(), runs.end(), [](const AnalysedRun* run) { return run->diverged(); });
}

std::size_t Group::unjudged() const {
  return std::count_if(runs.begin(), runs.end(), [](const AnalysedRun* run) { return !run->judged(); });
}

const Group* Arm::At(double lr) const {
  for (const Group& group : groups)
    if (group.lr == lr) return &group;
  return nullptr;
}

const Group* Arm::Best() const { return sensitivity.best_lr ? At(*sensitivity.best_lr) : nullptr; }

const Arm* Section::Find(const std::string& variant) const {
  for (const Arm& arm : arms)
    if (arm.variant == variant) return &arm;
  return nullptr;
}

Study Arrange(std::vector<AnalysedRun> runs, std::vector<Study::Unreadable> unreadable) {
  Study study;
  study.unreadable = std::move(unreadable);
  DropDuplicates(runs, study.duplicates);
  study.runs = std::move(runs);
  std::map<std::string, std::vector<const AnalysedRun*>> splits;
  for (const AnalysedRun& run : study.runs) splits[run.Attribute("split_hash")].push_back(&run);
  for (auto& [hash, members] : splits) study.sections.push_back(MakeSection(hash, std::move(members)));
  return study;
}

}  // namespace dark::analysis
