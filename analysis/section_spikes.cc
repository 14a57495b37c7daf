#include <fmt/format.h>

#include <algorithm>

#include "analysis/format.h"
#include "analysis/sections.h"

namespace dark::analysis {
namespace {

constexpr std::size_t kListedEvents = 40;

using Series = std::vector<SeriesSpikes> AnalysedRun::*;

struct Listed {
  const Arm* arm;
  const AnalysedRun* run;
  const char* series;
  const Event* event;
};

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
  for (const char* series : {"loss", "gradient"})
    for (const Rule& rule : StandardRules()) table.header.push_back(fmt::format("{}, {}", series, rule.name));
  table.header.push_back("loss events, robust (unrecovered)");
  for (const Arm& arm : section.arms)
    for (const Group& group : arm.groups) {
      std::vector<Cell> row = {arm.label, Lr(group.lr)};
      for (const Series series : {&AnalysedRun::loss, &AnalysedRun::grad})
        for (std::size_t rule = 0; rule < StandardRules().size(); ++rule)
          row.push_back(Score(group, series, rule));
      std::size_t events = 0, lasting = 0;
      for (const AnalysedRun* run : group.runs)
        for (const Event& event : run->loss.back().events) {
          ++events;
          lasting += event.recovery ? 0 : 1;
        }
      row.push_back({fmt::format("{} ({}) in {}", events, lasting, Count(group.runs.size(), "run")),
                     lasting > 0  ? Tone::kBad
                     : events > 0 ? Tone::kWarning
                                  : Tone::kPlain});
      table.rows.push_back(std::move(row));
    }
  return table;
}

std::vector<Listed> HighestEvents(const Section& section) {
  std::vector<Listed> listed;
  for (const Arm& arm : section.arms)
    for (const Group& group : arm.groups)
      for (const AnalysedRun* run : group.runs) {
        for (const Event& event : run->loss.back().events) listed.push_back({&arm, run, "loss", &event});
        for (const Event& event : run->grad.back().events) listed.push_back({&arm, run, "gradient", &event});
      }
  std::stable_sort(listed.begin(), listed.end(),
                   [](const Listed& a, const Listed& b) { return a.event->relative > b.event->relative; });
  return listed;
}

Table Events(const std::vector<Listed>& events) {
  const std::size_t shown = std::min(events.size(), kListedEvents);
  Table table{
      fmt::format("Spikes by the robust rule, marked steps closer than {} merged; the {} highest of {} by "
                  "peak / baseline. events.csv lists all, by every rule.",
                  kEventGap, shown, events.size()),
      {"variant", "learning rate", "seed", "series", "start", "peak at", "peak / baseline",
       "height, robust sd", "steps marked", "recovered after", "lost"},
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
  blocks.push_back(Paragraph{
      fmt::format("Values that are not finite are part of no window and no spike; there are {} in {}.",
                  NonFinite(section), Count(section.runs.size(), "run"))});
  const std::vector<Listed> events = HighestEvents(section);
  if (events.empty())
    blocks.push_back(
        Paragraph{fmt::format("The robust rule marks no spike in {}.", Count(section.runs.size(), "run"))});
  else
    blocks.push_back(Events(events));
  return blocks;
}

}  // namespace dark::analysis
