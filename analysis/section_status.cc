#include <fmt/format.h>

#include <set>

#include "analysis/format.h"
#include "analysis/sections.h"

namespace dark::analysis {
namespace {

std::string Counted(std::size_t n, const char* word) { return n == 0 ? "" : fmt::format("{} {}", n, word); }

Cell StatusCell(const Group* group) {
  if (group == nullptr) return {"no run"};
  std::size_t done = 0, running = 0, stopped = 0, failed = 0;
  for (const AnalysedRun* run : group->runs) {
    if (run->diverged()) continue;
    done += run->status == RunStatus::kDone;
    running += run->status == RunStatus::kRunning;
    stopped += run->status == RunStatus::kStopped;
    failed += run->status == RunStatus::kFailed;
  }
  std::vector<std::string> words;
  for (const std::string& word :
       {Counted(group->diverged(), "diverged"), Counted(done, "done"), Counted(running, "running"),
        Counted(stopped, "stopped"), Counted(failed, "failed")})
    if (!word.empty()) words.push_back(word);
  const Tone tone = group->diverged() > 0        ? Tone::kBad
                    : done == group->runs.size() ? Tone::kGood
                                                 : Tone::kWarning;
  return {fmt::format("{}", fmt::join(words, ", ")), tone};
}

std::string Divergences(const AnalysedRun& run) {
  std::vector<std::string> words;
  for (const Divergence& rule : run.divergence)
    if (rule.answer == Divergence::Answer::kYes)
      words.push_back(rule.step ? fmt::format("{} at step {}: {}", rule.rule, *rule.step, rule.detail)
                                : fmt::format("{}: {}", rule.rule, rule.detail));
    else if (rule.answer == Divergence::Answer::kNotComputable)
      words.push_back(fmt::format("{} not computable: {}", rule.rule, rule.detail));
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, "; "));
}

}  // namespace

std::string Fate(const AnalysedRun& run) {
  const Divergence& finite = run.divergence.front();
  if (finite.answer == Divergence::Answer::kYes)
    return finite.step ? fmt::format("diverged at step {} ({})", *finite.step, finite.detail)
                       : fmt::format("diverged ({})", finite.detail);
  if (run.diverged()) return "diverged (no better than untrained)";
  if (run.status == RunStatus::kDone) return "done";
  std::string fate =
      fmt::format("{} at step {} of {}", dark::Name(run.status), run.steps_done, run.steps_planned);
  const std::string reason = run.Attribute("exit_reason");
  if (!reason.empty()) fate += fmt::format(" ({})", reason);
  return fate;
}

std::vector<Block> StatusMap(const Section& section) {
  Table table{"What became of the runs, one row a variant, one column a learning rate.", {"variant"}, {}};
  for (const double lr : section.lrs) table.header.push_back(Lr(lr));
  for (const Arm& arm : section.arms) {
    std::vector<Cell> row = {arm.label};
    for (const double lr : section.lrs) row.push_back(StatusCell(arm.At(lr)));
    table.rows.push_back(std::move(row));
  }
  return {Heading{2, "Status map"}, table};
}

std::vector<Block> RunList(const Section& section) {
  Table table{fmt::format("All {}", Count(section.runs.size(), "run")),
              {"run", "variant", "learning rate", "seed", "status", "validation loss", "accuracy, %",
               "signs of divergence"},
              {},
              true};
  for (const Arm& arm : section.arms)
    for (const Group& group : arm.groups)
      for (const AnalysedRun* run : group.runs) {
        const Tone tone = run->diverged() ? Tone::kBad : run->judged() ? Tone::kPlain : Tone::kWarning;
        table.rows.push_back({run->name,
                              arm.label,
                              Lr(run->lr),
                              std::to_string(run->seed),
                              {Fate(*run), tone},
                              Fixed(run->final_loss, 3),
                              Fixed(100 * run->final_accuracy, 2),
                              Divergences(*run)});
      }
  std::vector<Block> blocks = {
      Heading{2, "Runs"}, table,
      Paragraph{"Rules of divergence; a run counts as diverged by D0 or, when done, D1:"}};
  blocks.push_back(List{Describe(DivergenceLimits{})});
  return blocks;
}

std::vector<Block> Notes(const Section& section) {
  std::vector<std::string> notes;
  for (const Arm& arm : section.arms)
    if (arm.sensitivity.best_on_edge && arm.sensitivity.lrs.size() > 1)
      notes.push_back(
          fmt::format("{}: the best learning rate {} is on the edge of its grid; extend the grid to be sure "
                      "that it is the best.",
                      arm.label, Lr(*arm.sensitivity.best_lr)));
  for (const AnalysedRun* run : section.runs)
    if (!run->judged()) notes.push_back(fmt::format("{}: {}; not part of any mean.", run->name, Fate(*run)));
  for (const std::string& missing : section.missing) notes.push_back(missing + ".");
  std::set<std::string> revisions;
  for (const AnalysedRun* run : section.runs) revisions.insert(run->Attribute("git_revision"));
  if (revisions.size() > 1)
    notes.push_back(
        fmt::format("The runs come from {} commits of the program ({}): a difference between them may be a "
                    "difference of the program.",
                    revisions.size(), fmt::join(revisions, ", ")));
  if (section.seeds.size() < 2)
    notes.push_back("One seed only: there are no intervals, and differences between variants may be chance.");
  if (notes.empty()) notes.push_back("Nothing to add: every run of the grid is there and came to its end.");
  return {Heading{2, "Notes"}, List{notes}};
}

}  // namespace dark::analysis
