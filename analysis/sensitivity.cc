#include "analysis/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace dark::analysis {
namespace {

using SeedTrials = std::map<double, const LrTrial*>;  // by learning rate

// NaN and losses above l0 give l0: both comparisons with NaN are false.
double Capped(const LrTrial& trial) {
  return trial.final_loss < trial.initial_loss ? trial.final_loss : trial.initial_loss;
}

double OfSeed(const SeedTrials& trials) {
  double sum = 0, best = std::numeric_limits<double>::infinity();
  for (const auto& [lr, trial] : trials) {
    sum += Capped(*trial);
    best = std::min(best, Capped(*trial));
  }
  return sum / static_cast<double>(trials.size()) - best;
}

std::string WhyNot(const SeedTrials& trials, std::size_t grid) {
  if (trials.size() < grid) return fmt::format("{} of {} learning rates finished", trials.size(), grid);
  if (std::any_of(trials.begin(), trials.end(),
                  [](const auto& entry) { return !std::isfinite(entry.second->initial_loss); }))
    return "no evaluation at step 0";
  if (std::none_of(trials.begin(), trials.end(),
                   [](const auto& entry) { return entry.second->final_loss < entry.second->initial_loss; }))
    return "every learning rate diverged";
  return "";
}

// Mean final loss at each learning rate where no trial diverged.
std::map<double, double> MeanLosses(std::span<const LrTrial> trials) {
  std::map<double, std::vector<double>> losses;
  std::set<double> diverged;
  for (const LrTrial& trial : trials) {
    losses[trial.lr].push_back(trial.final_loss);
    if (!std::isfinite(trial.final_loss)) diverged.insert(trial.lr);
  }
  std::map<double, double> means;
  for (const auto& [lr, values] : losses)
    if (!diverged.count(lr)) means[lr] = EstimateMean(values).mean;
  return means;
}

void FindBest(const std::map<double, double>& means, LrSensitivity& result) {
  if (means.empty()) return;
  const auto best = std::min_element(means.begin(), means.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  result.best_lr = best->first;
  result.best_on_edge = best->first == result.lrs.front() || best->first == result.lrs.back();
  // Only the unbroken stretch of the grid around the best counts as a width.
  const auto good = [&](double lr) {
    const auto found = means.find(lr);
    return found != means.end() && found->second <= best->second + kLossMargin;
  };
  const auto at = std::find(result.lrs.begin(), result.lrs.end(), best->first) - result.lrs.begin();
  std::ptrdiff_t low = at, high = at;
  while (low > 0 && good(result.lrs[low - 1])) --low;
  while (high + 1 < std::ssize(result.lrs) && good(result.lrs[high + 1])) ++high;
  if (result.lrs[low] > 0) result.decades = std::log10(result.lrs[high] / result.lrs[low]);
}

}  // namespace

std::optional<double> LrSensitivity::mean() const {
  if (per_seed.empty()) return std::nullopt;
  return EstimateMean(per_seed).mean;
}

LrSensitivity Sensitivity(std::span<const LrTrial> trials, std::span<const double> planned) {
  LrSensitivity result;
  std::map<std::int64_t, SeedTrials> by_seed;
  std::set<double> grid(planned.begin(), planned.end());
  for (const LrTrial& trial : trials) {
    by_seed[trial.seed][trial.lr] = &trial;
    grid.insert(trial.lr);
  }
  result.lrs.assign(grid.begin(), grid.end());
  FindBest(MeanLosses(trials), result);
  if (result.lrs.size() < 2) {
    result.why_not = fmt::format("not computable: {} learning rate{}", result.lrs.size(),
                                 result.lrs.size() == 1 ? "" : "s");
    return result;
  }
  for (const auto& [seed, of_seed] : by_seed) {
    const std::string why_not = WhyNot(of_seed, result.lrs.size());
    if (why_not.empty()) {
      result.seeds.push_back(seed);
      result.per_seed.push_back(OfSeed(of_seed));
    } else if (result.why_not.empty()) {
      result.why_not = fmt::format("not computable: {} (seed {})", why_not, seed);
    }
  }
  if (by_seed.empty()) result.why_not = "not computable: no run has finished";
  if (!result.per_seed.empty()) result.why_not.clear();
  result.interval = BootstrapMean(result.per_seed);
  return result;
}

}  // namespace dark::analysis
