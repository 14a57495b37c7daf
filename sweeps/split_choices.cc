#include "sweeps/split_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "core/files/file.h"
#include "core/files/replace_file.h"
#include "core/random.h"
#include "experiments/training/provenance.h"
#include "sweeps/measure_split.h"
#include "sweeps/table.h"

namespace dark {
namespace {

constexpr double kWorth = 50;       // how much longer than its measurement a sweep lasts at least
constexpr double kFewestSteps = 4;  // that a timer takes, however short it is asked to be
constexpr double kSlowCore = 1e10;  // operations/s that the slowest core worth measuring on does

bool IsKnown(const Split& split) { return split.tokens_per_s > 0; }

}  // namespace

SplitChoices::SplitChoices(const Sweep& sweep, const SweepStore& store, const Cores& cores)
    : load_(LoadOf(sweep)),
      path_(store.root() + "/jobs.csv"),
      splits_(SplitsOf(cores.Usable(), static_cast<int>(sweep.trials.size()))) {
  std::string cpu = CpuName();
  std::replace(cpu.begin(), cpu.end(), ',', ';');
  key_ = fmt::format("{},{},{},{:016x}", cores.Usable(), cores.physical, cpu,
                     HashName(StepShape(load_.heaviest->config)));
  if (!std::filesystem::exists(path_)) return;
  for (const Split& row : ParsePlanTable(ReadFile(path_), key_))
    for (Split& split : splits_)
      if (row.jobs == split.jobs && row.threads == split.threads) split = row;
}

Split* SplitChoices::Next() {
  const auto next = std::find_if(splits_.begin(), splits_.end(), [](const Split& s) { return !IsKnown(s); });
  return next != splits_.end() && Pays() ? &*next : nullptr;
}

void SplitChoices::Write() const { ReplaceFile(path_, PlanTableCsv(Known(), key_)); }

std::string SplitChoices::Table() const {
  return Known().empty() ? "" : PlanTableText(Known(), load_.tokens);
}

JobChoice SplitChoices::Choose() const {
  const std::vector<Split> known = Known();
  const Split best = known.empty() ? guess() : BestOf(known, load_.tokens);
  const std::string rate =
      known.empty() ? "as many jobs as fit"
                    : fmt::format("{} tokens/s, about {} for the whole sweep", HumanCount(best.tokens_per_s),
                                  HumanSeconds(SweepSeconds(best, load_.tokens)));
  return {best.threads,
          fmt::format("{} jobs × {} threads: {}; {}", best.jobs, best.threads, rate, Rest(known)), false};
}

std::vector<Split> SplitChoices::Known() const {
  std::vector<Split> known;
  std::copy_if(splits_.begin(), splits_.end(), std::back_inserter(known), IsKnown);
  return known;
}

// Until the first measurement tells what a step costs, a slow core is assumed: then a sweep that is found
// too short is so on any machine, and one that is not spends a few per cent to find out.
bool SplitChoices::Pays() const {
  Split first = guess();
  if (!IsKnown(first)) {
    const TrainOptions& train = heaviest().config.train;
    const double step = static_cast<double>(train.batch) * static_cast<double>(train.context);
    const double rate = first.threads * kSlowCore / load_.flops_per_token;
    first.tokens_per_s = first.jobs * rate;
    first.seconds = std::max(kTimerSeconds, kFewestSteps * step / rate);
  }
  return SweepSeconds(first, load_.tokens) > kWorth * first.seconds * static_cast<double>(splits_.size());
}

// What the choice rests on, and what it does not.
std::string SplitChoices::Rest(const std::vector<Split>& known) const {
  if (known.size() == splits_.size())
    return fmt::format("best of {} splits measured (jobs.csv)", known.size());
  if (Pays()) return fmt::format("`sweep run` measures {} splits first", splits_.size() - known.size());
  return known.empty() ? "too short a sweep to measure" : "too short a sweep to measure others (jobs.csv)";
}

}  // namespace dark
