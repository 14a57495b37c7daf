#include "sweeps/plan_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "sweeps/table.h"

namespace dark {
namespace {

constexpr double kNoise = 0.02;
constexpr const char* kHeader = "jobs,threads,tokens_per_s,seconds,cores,physical_cores,cpu,shape\n";

}  // namespace

std::vector<Split> SplitsOf(int usable, int trials) {
  const int most = std::min(usable, std::max(trials, 1));
  std::vector<int> threads = {usable / most};
  for (int count = 1; count < usable; count *= 2) threads.push_back(count);
  threads.push_back(usable);
  std::vector<Split> splits;
  for (const int count : threads) {
    const Split split = {std::min(usable / count, most), count};
    const bool known = std::any_of(splits.begin(), splits.end(),
                                   [&](const Split& other) { return other.threads == split.threads; });
    if (!known) splits.push_back(split);
  }
  return splits;
}

double SweepSeconds(const Split& split, const std::vector<double>& tokens) {
  std::vector<double> busy(static_cast<std::size_t>(split.jobs), 0.0);  // until when each job trains
  const double rate = split.tokens_per_s / split.jobs;
  for (const double run : tokens) *std::min_element(busy.begin(), busy.end()) += run / rate;
  return *std::max_element(busy.begin(), busy.end());
}

Split BestOf(const std::vector<Split>& splits, const std::vector<double>& tokens) {
  std::vector<double> seconds;
  for (const Split& split : splits) seconds.push_back(SweepSeconds(split, tokens));
  const double limit = (1 + kNoise) * *std::min_element(seconds.begin(), seconds.end());
  Split best = {0};
  for (std::size_t i = 0; i < splits.size(); ++i)
    if (seconds[i] <= limit && splits[i].jobs > best.jobs) best = splits[i];
  return best;
}

std::string PlanTableCsv(const std::vector<Split>& splits, const std::string& key) {
  std::string csv = kHeader;
  for (const Split& split : splits)
    csv += fmt::format("{},{},{},{},{}\n", split.jobs, split.threads, split.tokens_per_s, split.seconds, key);
  return csv;
}

std::vector<Split> ParsePlanTable(const std::string& csv, const std::string& key) {
  std::vector<Split> splits;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    Split split;
    char comma = 0;
    std::string rest;
    cells >> split.jobs >> comma >> split.threads >> comma >> split.tokens_per_s >> comma >> split.seconds >>
        comma;
    if (std::getline(cells, rest) && rest == key && split.tokens_per_s > 0) splits.push_back(split);
  }
  return splits;
}

std::string PlanTableText(const std::vector<Split>& splits, const std::vector<double>& tokens) {
  static const std::vector<Column> columns = {
      {"jobs", true, 0}, {"threads", true, 0}, {"tokens/s", true, 0}, {"whole sweep", true, 0}};
  std::vector<std::vector<std::string>> rows;
  for (const Split& split : splits)
    rows.push_back({std::to_string(split.jobs), std::to_string(split.threads), HumanCount(split.tokens_per_s),
                    HumanSeconds(SweepSeconds(split, tokens))});
  std::string text;
  for (const std::string& line : FormatTable(columns, rows)) text += line + '\n';
  return text;
}

}  // namespace dark
