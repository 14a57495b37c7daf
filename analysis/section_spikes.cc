#include <fmt/format.h>

#include <algorithm>

#include "analysis/format.h"
#include "analysis/sections.h"

namespace dark::analysis {
namespace {

constexpr std::size_t kListedEvents = 40;
const std::string kLossSeries = "loss", kGradientSeries = "gradient";

using Series = std::vector<SeriesSpikes> AnalysedRun::*;

struct Listed {
  const Arm* arm;
  const AnalysedRun* run;
  std::string series;
  const Event* event;
};

// Whether some run of the section is long enough for a rule.
bool Computable(const Section& section, std::size_t rule) {
  return std::any_of(section.runs.begin(), section.runs.end(), [&](const AnalysedRun* run) {
    return run->loss[rule].detection.Score() || run->grad[rule].detection.Score();
  });
}

// Rules that no run is long enough for get a sentence instead of two columns of excuses.
std::vector<std::size_t> ComputableRules(const Section& section) {
  std::vector<std::size_t> rules;
  for (std::size_t rule = 0; rule < StandardRules().size(); ++rule)
    if (Computable(section, rule)) rules.push_back(rule);
  return rules;
}

std::vector<Block> Incomputable(const Section& section) {
  std::vector<Block> blocks;
  for (std::size_t rule = 0; rule < StandardRules().size(); ++rule) {
    if (Computable(section, rule)) continue;
    const auto longest = std::max_element(
        section.runs.begin(), section.runs.end(), [](const AnalysedRun* a, const AnalysedRun* b) {
          return a->loss.front().detection.length < b->loss.front().detection.length;
        });
    blocks.push_back(
        Paragraph{fmt::format("Spike score of the {} rule: {} in the longest run.",
                              StandardRules()[rule].name, (*longest)->loss[rule].detection.WhyNoScore())});
  }
  return blocks;
}

// Mean score over the runs of a group that are long enough, or why there is none.
std::string Score(const Group& group, Series series, std::size_t rule) {
  std::vector<double> scores;
  std::string why;
  for (const AnalysedRun* run : group.runs) {
    const Detection& found = (run->*series)[rule].detection;
    if (const auto score = found.Score())
      scores.push_back(*score);
    else
      why = found.WhyNoScore();
  }
  if (scores.empty()) return why;
  return fmt::format("{} (n={})", Fixed(EstimateMean(scores).mean, 3), scores.size());
}

// Loss events of the rule with the shortest reach, over the runs it can judge.
Cell EventCount(const Group& group) {
  std::size_t events = 0, lasting = 0, runs = 0;
  std::string why;
  for (const AnalysedRun* run : group.runs) {
    const SeriesSpikes& robust = run->loss.back();
    if (!robust.detection.Score()) {
      why = robust.detection.WhyNoScore();
      continue;
    }
    ++runs;
    events += robust.events.size();
    lasting += std::count_if(robust.events.begin(), robust.events.end(),
                             [](const Event& event) { return !event.recovery.has_value(); });
  }
  if (runs == 0) return {why};
  const Tone tone = lasting > 0 ? Tone::kBad : events > 0 ? Tone::kWarning : Tone::kPlain;
  return {fmt::format("{} ({}) in {}", events, lasting, Count(runs, "run")), tone};
}

Table Scores(const Section& section) {
  std::vector<std::string> rules;
  for (const Rule& rule : StandardRules()) rules.push_back(Describe(rule));
  Table table{
      fmt::format(
          "Spike score: 100 × marked steps / steps with a full window, mean over n runs, diverged ones "
          "included. History excludes the step itself. {}.",
          fmt::join(rules, "; ")),
      {"variant", "learning rate"},
      {}};
  const std::vector<std::size_t> computable = ComputableRules(section);
  for (const std::string& series : {kLossSeries, kGradientSeries})
    for (const std::size_t rule : computable)
      table.header.push_back(fmt::format("{}, {}", series, StandardRules()[rule].name));
  table.header.push_back("loss events, robust (unrecovered)");
  for (const Arm& arm : section.arms)
    for (const Group& group : arm.groups) {
      std::vector<Cell> row = {arm.label, Lr(group.lr)};
      for (const Series series : {&AnalysedRun::loss, &AnalysedRun::grad})
        for (const std::size_t rule : computable) row.push_back(Score(group, series, rule));
      row.push_back(EventCount(group));
      table.rows.push_back(std::move(row));
    }
  return table;
}

std::vector<Listed> HighestEvents(const Section& section) {
  std::vector<Listed> listed;
  for (const Arm& arm : section.arms)
    for (const Group& group : arm.groups)
      for (const AnalysedRun* run : group.runs) {
        for (const Event& event : run->loss.back().events) listed.push_back({&arm, run, kLossSeries, &event});
        for (const Event& event : run->grad.back().events)
          listed.push_back({&arm, run, kGradientSeries, &event});
      }
  // The loss is what a reader cares for; the gradient norm explains it.
  std::stable_sort(listed.begin(), listed.end(), [](const Listed& a, const Listed& b) {
    const bool a_is_loss = a.series == kLossSeries, b_is_loss = b.series == kLossSeries;
    return std::pair(!a_is_loss, -a.event->relative) < std::pair(!b_is_loss, -b.event->relative);
  });
  return listed;
}

Table Events(const std::vector<Listed>& events) {
  const std::size_t shown = std::min(events.size(), kListedEvents);
  Table table{fmt::format("Spikes by the robust rule, marked steps closer than {} merged; the {} highest of "
                          "{}, loss first, by "
                          "peak / baseline. events.csv lists all, by every rule.",
                          kEventGap, shown, events.size()),
              {"variant", "learning rate", "seed", "series", "start", "peak at", "peak / baseline",
               "height, robust sd", "steps marked", "recovered after", "area above baseline"},
              {}};
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [arm, run, series, event] = events[i];
    table.rows.push_back({arm->label, Lr(run->lr), std::to_string(run->seed), series,
                          std::to_string(event->start), std::to_string(event->peak),
                          Fixed(event->relative, 2), Fixed(event->height, 1),
                          std::to_string(event->duration()),
                          event->recovery ? Cell(Count(*event->recovery, "step")) : Cell("never", Tone::kBad),
                          Fixed(event->lost, 2)});
  }
  return table;
}

std::size_t NonFinite(const Section& section) {
  std::size_t steps = 0;
  for (const AnalysedRun* run : section.runs)
    steps += run->loss.front().detection.non_finite + run->grad.front().detection.non_finite;
  return steps;
}

}  // namespace

std::vector<Block> Spikes(const Section& section) {
  std::vector<Block> blocks = {Heading{2, "Spikes"}, Scores(section)};
  for (Block& block : Incomputable(section)) blocks.push_back(std::move(block));
  blocks.push_back(Paragraph{
      fmt::format("Values that are not finite are part of no window and no spike; there are {} in {}.",
                  NonFinite(section), Count(section.runs.size(), "run"))});
  const std::vector<Listed> events = HighestEvents(section);
  const std::size_t judged =
      std::count_if(section.runs.begin(), section.runs.end(),
                    [](const AnalysedRun* run) { return run->loss.back().detection.Score().has_value(); });
  if (!events.empty())
    blocks.push_back(Events(events));
  else if (judged > 0)
    blocks.push_back(Paragraph{fmt::format("The robust rule marks no spike; {} long enough for it.",
                                           Count(judged, "run") + (judged == 1 ? " is" : " are"))});
  return blocks;
}

}  // namespace dark::analysis
