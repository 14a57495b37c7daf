#include <fmt/format.h>

#include "analysis/comparison.h"
#include "analysis/format.h"
#include "analysis/sections.h"

namespace dark::analysis {
namespace {

constexpr const char* kNothing = "–";

// At the same learning rate, paired by seed, against the first exact arm that differs in nothing else.
std::string GapToExact(const Section& section, const Arm& arm, const Group& group) {
  if (arm.variant == "exact") return kNothing;
  for (const Arm& exact : section.arms) {
    if (exact.variant != "exact" || !Comparable(arm, exact)) continue;
    return Signed(OverSeeds(Minus(BySeed(&group, &AnalysedRun::final_loss),
                                  BySeed(exact.At(group.lr), &AnalysedRun::final_loss))),
                  3);
  }
  return kNothing;
}

Estimate Percent(const Group& group) {
  std::vector<double> values = group.Counted(&AnalysedRun::final_accuracy);
  for (double& value : values) value *= 100;
  return EstimateMean(values);
}

Table Groups(const Section& section) {
  Table table{
      "Final validation loss (nats a token) and next-token accuracy: mean ± 95 % t interval over the n seeds "
      "that "
      "finished without diverging. Gap to exact: paired by seed at the same learning rate.",
      {"variant", "learning rate", "validation loss", "accuracy, %", "gap to exact, nats", "diverged",
       "unfinished"},
      {}};
  for (const Arm& arm : section.arms)
    for (const Group& group : arm.groups) {
      const std::string of = fmt::format(" of {}", group.runs.size());
      table.rows.push_back(
          {arm.label,
           Lr(group.lr),
           Plain(EstimateMean(group.Counted(&AnalysedRun::final_loss)), 3),
           Plain(Percent(group), 2),
           GapToExact(section, arm, group),
           {std::to_string(group.diverged()) + of, group.diverged() > 0 ? Tone::kBad : Tone::kPlain},
           {std::to_string(group.unjudged()) + of, group.unjudged() > 0 ? Tone::kWarning : Tone::kPlain}});
    }
  return table;
}

std::string SensitivityText(const LrSensitivity& s) {
  if (!s.mean()) return s.why_not;
  if (!s.interval) return fmt::format("{} (n={}, no interval)", Fixed(*s.mean(), 3), s.per_seed.size());
  return fmt::format("{} [{}, {}] (n={})", Fixed(*s.mean(), 3), Fixed(s.interval->low, 3),
                     Fixed(s.interval->high, 3), s.per_seed.size());
}

Table Sensitivities(const Section& section) {
  Table table{
      fmt::format(
          "Learning-rate sensitivity S: mean over the grid of min(final loss, loss at step 0) minus the best "
          "final loss, in nats; 95 % bootstrap interval over n seeds. Width: decades around the best rate "
          "whose mean loss is within {} nats of it.",
          kLossMargin),
      {"variant", "S", "learning rates", "best learning rate", "width, decades", "diverged at each rate"},
      {}};
  for (const Arm& arm : section.arms) {
    const LrSensitivity& s = arm.sensitivity;
    std::vector<std::string> diverged;
    for (const Group& group : arm.groups)
      diverged.push_back(fmt::format("{}: {} of {}", Lr(group.lr), group.diverged(), group.runs.size()));
    const bool edge = s.best_on_edge && s.lrs.size() > 1;
    const Cell best = s.best_lr ? Cell(Lr(*s.best_lr) + (edge ? " (edge of the grid)" : ""),
                                       edge ? Tone::kWarning : Tone::kPlain)
                                : Cell("none without divergence");
    table.rows.push_back({arm.label, SensitivityText(s), std::to_string(s.lrs.size()), best,
                          s.decades ? Fixed(*s.decades, 2) : kNothing,
                          fmt::format("{}", fmt::join(diverged, ", "))});
  }
  return table;
}

Table Differences(const Section& section) {
  Table table{
      "Paired differences at the same learning rate, m and seed, first minus second: mean ± 95 % t interval. "
      "Negative loss and positive accuracy speak for the first. Pairs in which a run diverged are left out.",
      {"first", "second", "learning rate", "validation loss, nats", "accuracy, percentage points"},
      {},
      true};
  const auto add = [&](const Arm& a, const Arm& b) {
    for (const Group& group : a.groups) {
      const Group* other = b.At(group.lr);
      if (other == nullptr) continue;
      SeedValues accuracy =
          Minus(BySeed(&group, &AnalysedRun::final_accuracy), BySeed(other, &AnalysedRun::final_accuracy));
      for (auto& [seed, value] : accuracy) value *= 100;
      table.rows.push_back({a.label, b.label, Lr(group.lr),
                            Signed(OverSeeds(Minus(BySeed(&group, &AnalysedRun::final_loss),
                                                   BySeed(other, &AnalysedRun::final_loss))),
                                   3),
                            Signed(OverSeeds(accuracy), 2)});
    }
  };
  for (std::size_t i = 0; i < section.arms.size(); ++i)
    for (std::size_t j = i + 1; j < section.arms.size(); ++j) {
      const Arm &a = section.arms[i], &b = section.arms[j];
      if (a.variant == b.variant || !Comparable(a, b)) continue;
      if (a.variant == "exact")
        add(b, a);
      else
        add(a, b);
    }
  return table;
}

}  // namespace

std::vector<Block> Results(const Section& section) {
  std::vector<Block> blocks = {Heading{2, "Results"}, Groups(section),
                               Heading{3, "Learning-rate sensitivity"}, Sensitivities(section)};
  if (const Table table = Differences(section); !table.rows.empty()) blocks.push_back(table);
  return blocks;
}

}  // namespace dark::analysis
