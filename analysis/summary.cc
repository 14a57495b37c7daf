#include <fmt/format.h>

#include <algorithm>

#include "analysis/compose.h"
#include "analysis/format.h"
#include "analysis/sections.h"

namespace dark::analysis {
namespace {

constexpr std::size_t kLines = 15;

std::string ArmLine(const Arm& arm, std::size_t width) {
  std::size_t diverged = 0, runs = 0;
  for (const Group& group : arm.groups) {
    diverged += group.diverged();
    runs += group.runs.size();
  }
  std::string best = "no learning rate without divergence or with finished runs";
  if (const Group* group = arm.Best())
    best = fmt::format("loss {} at lr {}", Plain(EstimateMean(group->Counted(&AnalysedRun::final_loss)), 3),
                       Lr(group->lr));
  const auto s = arm.sensitivity.mean();
  return fmt::format("  {:<{}}  {}, S {}, diverged {}/{}\n", arm.label, width, best, s ? Fixed(*s, 3) : "–",
                     diverged, runs);
}

// Each part's share of the lines: one for its counts, the claims, and what is left for arms.
std::string Part(const Section& section, std::size_t lines) {
  const std::vector<Claim> claims = JudgeClaims(section);
  std::string out = Counts(section) + "\n";
  const std::size_t room = lines - 1 - claims.size();
  std::size_t width = 0;
  for (const Arm& arm : section.arms) width = std::max(width, arm.label.size());
  for (std::size_t i = 0; i < section.arms.size(); ++i) {
    if (i + 1 == room && section.arms.size() > room) {
      out += fmt::format("  … and {} more variants in the report\n", section.arms.size() - i);
      break;
    }
    out += ArmLine(section.arms[i], width);
  }
  for (const Claim& claim : claims) out += fmt::format("{}: {}\n", Name(claim.answer), claim.statement);
  return out;
}

}  // namespace

std::string Summary(const Study& study) {
  std::string out;
  std::size_t lines = kLines;
  if (!study.unreadable.empty()) {
    out += fmt::format("{} could not be read, first: {}\n", Count(study.unreadable.size(), "file"),
                       study.unreadable.front().path);
    --lines;
  }
  if (study.sections.size() == 1) return out + Part(study.sections.front(), lines);
  for (std::size_t i = 0; i < study.sections.size(); ++i) {
    if (i + 1 == lines && study.sections.size() > lines) {
      out += fmt::format("… and {} more validation splits in the report\n", study.sections.size() - i);
      break;
    }
    out += fmt::format("split {}: {}\n", study.sections[i].split_hash, Counts(study.sections[i]));
  }
  return out;
}

}  // namespace dark::analysis
