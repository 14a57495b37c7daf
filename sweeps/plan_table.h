#pragma once

#include <string>
#include <vector>

namespace dark {

/// A way to divide the cores among jobs, and what it achieved when it was measured.
struct Split {
  int jobs = 1;
  int threads = 1;          ///< a job
  double tokens_per_s = 0;  ///< of all jobs together; 0 = not measured
  double seconds = 0;       ///< that measuring took
};

/// The splits of `usable` cores that `trials` runs may want: first the one PlanJobs takes unasked, then 1, 2,
/// 4, … threads and all cores, each with as many jobs as fit.
std::vector<Split> SplitsOf(int usable, int trials);

/// Seconds that a measured split takes for runs of so many tokens, started in order, each by the first job
/// that is free. So two jobs are worth little to a sweep of three runs, however fast they are together.
double SweepSeconds(const Split& split, const std::vector<double>& tokens);

/// The split that ends first. Of those within 2 % of it, which is as well as a measurement repeats, the one
/// with the most jobs: a failure or a stop then costs less. Needs at least one split, all measured.
Split BestOf(const std::vector<Split>& splits, const std::vector<double>& tokens);

/// Measured splits as CSV. `key` says what they were measured for and ends every row: values for the columns
/// cores, physical_cores, cpu, shape.
std::string PlanTableCsv(const std::vector<Split>& splits, const std::string& key);
/// The rows that were measured for `key`; rows of other keys and what is no row count as absent.
std::vector<Split> ParsePlanTable(const std::string& csv, const std::string& key);

/// Measured splits for people, a line each, with the time of the whole sweep.
std::string PlanTableText(const std::vector<Split>& splits, const std::vector<double>& tokens);

}  // namespace dark
