#include <fmt/format.h>

#include <algorithm>

#include "analysis/comparison.h"
#include "analysis/format.h"
#include "analysis/sections.h"

namespace dark::analysis {
namespace {

struct Tally {
  std::size_t done = 0, diverged = 0, running = 0, other = 0;
};

Tally TallyOf(const Section& section) {
  Tally tally;
  for (const AnalysedRun* run : section.runs) {
    if (run->diverged())
      ++tally.diverged;
    else if (run->status == RunStatus::kDone)
      ++tally.done;
    else if (run->status == RunStatus::kRunning)
      ++tally.running;
    else
      ++tally.other;
  }
  return tally;
}

std::string Best(const Section& section) {
  const Arm* best = nullptr;
  const auto loss = [](const Arm& arm) {
    return EstimateMean(arm.Best()->Counted(&AnalysedRun::final_loss)).mean;
  };
  for (const Arm& arm : section.arms)
    if (arm.Best() != nullptr && (best == nullptr || loss(arm) < loss(*best))) best = &arm;
  if (best == nullptr) return "No learning rate has finished runs without divergence yet.";
  return fmt::format("The lowest validation loss, {} nats a token, belongs to {} at learning rate {}.",
                     Plain(EstimateMean(best->Best()->Counted(&AnalysedRun::final_loss)), 3), best->label,
                     Lr(*best->sensitivity.best_lr));
}

std::string Diverging(const Section& section) {
  std::vector<std::string> where;
  for (const Arm& arm : section.arms)
    for (const Group& group : arm.groups)
      if (group.diverged() > 0)
        where.push_back(fmt::format("{} at lr {} ({} of {})", arm.label, Lr(group.lr), group.diverged(),
                                    group.runs.size()));
  if (where.empty()) return "No run diverged.";
  const std::size_t more = where.size() > 4 ? where.size() - 4 : 0;
  where.resize(where.size() - more);
  return fmt::format("Diverged: {}{}.", fmt::join(where, ", "),
                     more > 0 ? fmt::format(" and {} more groups", more) : "");
}

// Where the floor is as good as the ceiling, no ranking in between means anything.
std::string Floor(const Section& section) {
  for (const auto& [uniform, exact] : Pairs(section, "uniform", "exact")) {
    const Estimate above = OverSeeds(Minus(BySeed(uniform->Best(), &AnalysedRun::final_loss),
                                           BySeed(exact->Best(), &AnalysedRun::final_loss)));
    if (above.n == 0 || above.mean - above.half.value_or(0) > 0) continue;
    return fmt::format(
        " Uniform attention, the floor, is not worse than exact attention beyond chance ({} nats): these "
        "runs cannot tell attention variants apart.",
        Signed(above, 3));
  }
  return "";
}

std::string OfClaims(const std::vector<Claim>& claims) {
  const auto count = [&](Claim::Answer answer) {
    return std::count_if(claims.begin(), claims.end(),
                         [&](const Claim& claim) { return claim.answer == answer; });
  };
  return fmt::format(
      "Of {} claims of the DARKFormer paper these runs show {}, do not show {}, and leave {} not computable.",
      claims.size(), count(Claim::Answer::kShown), count(Claim::Answer::kNotShown),
      count(Claim::Answer::kNotComputable));
}

}  // namespace

std::string Counts(const Section& section) {
  const Tally tally = TallyOf(section);
  std::string counts =
      fmt::format("{} of {} at {} with {}: {} done, {} diverged", Count(section.runs.size(), "run"),
                  Count(section.arms.size(), "variant"), Count(section.lrs.size(), "learning rate"),
                  Count(section.seeds.size(), "seed"), tally.done, tally.diverged);
  if (tally.running > 0) counts += fmt::format(", {} running", tally.running);
  if (tally.other > 0) counts += fmt::format(", {} stopped or failed", tally.other);
  return counts;
}

std::string Verdict(const Section& section, const std::vector<Claim>& claims) {
  return fmt::format("{}. {}{} {} {}", Counts(section), Best(section), Floor(section), Diverging(section),
                     OfClaims(claims));
}

std::vector<Block> Claims(const std::vector<Claim>& claims) {
  std::vector<Block> blocks = {
      Heading{2, "Claims of the paper"},
      Paragraph{
          "Held against these runs only: small models say nothing about large ones. Shown means that the 95 "
          "% "
          "interval of every comparison, paired by seed, lies on the claimed side; the intervals are not "
          "corrected for making several comparisons."}};
  for (const Claim& claim : claims) {
    const Tone tone = claim.answer == Claim::Answer::kShown ? Tone::kGood : Tone::kWarning;
    blocks.push_back(Paragraph{fmt::format("{}: {}", Name(claim.answer), claim.statement), tone});
    blocks.push_back(List{claim.evidence});
  }
  return blocks;
}

}  // namespace dark::analysis
