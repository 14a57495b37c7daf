#include <fmt/format.h>

#include <filesystem>

#include "app/commands.h"
#include "core/error.h"
#include "sweeps/job_choice.h"
#include "sweeps/launcher.h"
#include "sweeps/report.h"

namespace dark {
namespace {

struct SweepArguments {
  std::string spec;
  std::string out;
  std::vector<std::string> overrides;
  int jobs = 0;
  int threads = 0;
  std::string on_error = "continue";
  std::string retry;
  bool quiet = false;
  bool json = false;
};

Sweep Load(const SweepArguments& arguments) { return Expand(LoadSpec(arguments.spec), arguments.overrides); }

SweepStore StoreFor(const SweepArguments& arguments, const Sweep& sweep) {
  return SweepStore(arguments.out.empty() ? "runs/" + sweep.name : arguments.out);
}

LaunchOptions OptionsOf(const SweepArguments& arguments) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  LaunchOptions options;
  options.trainer = {self, "train"};
  options.timer = {self, "bench"};
  options.cores = AllowedCores();
  options.jobs = arguments.jobs;
  options.threads = arguments.threads;
  options.retry_failed = arguments.retry == "failed";
  options.stop_on_error = arguments.on_error == "stop";
  return options;
}

int Plan(const SweepArguments& arguments) {
  Sweep sweep = Load(arguments);
  const SweepStore store = StoreFor(arguments, sweep);
  store.AdoptNames(sweep);
  const LaunchOptions options = OptionsOf(arguments);
  const JobChoice choice = StoredJobs(sweep, store, options);
  const JobPlan plan =
      PlanJobs(options.cores, static_cast<int>(sweep.trials.size()), options.jobs, choice.threads);
  fmt::print("{}", PlanText(sweep, store, plan, choice.why));
  return 0;
}

int Run(const SweepArguments& arguments) {
  Sweep sweep = Load(arguments);
  const SweepStore store = StoreFor(arguments, sweep);
  const LaunchOptions options = OptionsOf(arguments);
  Tally tally;
  {
    const auto monitor = MakeMonitor(arguments.quiet ? MonitorStyle::kQuiet : StyleFor(stdout), stdout);
    tally = RunSweep(sweep, store, options, *monitor);
  }
  fmt::print("{}: {} trials: {} done, {} diverged, {} failed, {} not finished\n", store.root(), tally.total,
             tally.done, tally.diverged, tally.failed, tally.stopped);
  if (tally.stopped > 0) fmt::print("the same command goes on where it stopped\n");
  return static_cast<int>(ExitFor(tally, options.stop_on_error));
}

int Status(const SweepArguments& arguments) {
  std::vector<NamedStatus> trials;
  if (std::filesystem::is_directory(arguments.spec)) {
    const SweepStore store(arguments.spec);
    trials = ReadTrials(store, store.StoredNames());
  } else {
    Sweep sweep = Load(arguments);
    const SweepStore store = StoreFor(arguments, sweep);
    store.AdoptNames(sweep);
    std::vector<std::string> names;
    for (const Trial& trial : sweep.trials) names.push_back(trial.name);
    trials = ReadTrials(store, names);
  }
  fmt::print("{}", arguments.json ? StatusJson(trials) : StatusText(trials));
  return 0;
}

void AddSpec(CLI::App& command, SweepArguments& arguments, const char* what) {
  command.add_option("spec", arguments.spec, what)->required()->check(CLI::ExistingPath);
  command.add_option("--out", arguments.out, "folder of the sweep (default: runs/NAME)");
  command.add_option("--set", arguments.overrides, "KEY=VALUE for the base of the sweep; may be repeated")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
}

void AddJobs(CLI::App& command, SweepArguments& arguments) {
  command.add_option("--jobs", arguments.jobs, "runs at once (default: see below)")
      ->check(CLI::Range(1, 100000));
  command.add_option("--threads", arguments.threads, "threads a run (default: see below)")
      ->check(CLI::Range(1, 100000));
}

}  // namespace

void AddSweep(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<SweepArguments>();
  CLI::App* sweep = app.add_subcommand("sweep", "Plan, run and inspect sweeps of many runs");
  sweep->require_subcommand(1);
  sweep->footer(
      "Examples:\n"
      "  darkformer sweep plan experiments/recipes/quickstart.yaml --set data.text=bible.txt\n"
      "  darkformer sweep run experiments/recipes/quickstart.yaml --set data.text=bible.txt --jobs 2\n"
      "  darkformer sweep status runs/quickstart\n"
      "Without --jobs and --threads, `sweep run` first times which division of the cores ends the sweep\n"
      "soonest and keeps the figures in jobs.csv in its folder; a sweep too short for that gets as many "
      "jobs\n"
      "as fit. With one of the two, the other is what the cores allow. Results depend on neither.\n"
      "`sweep run` again runs only what is missing. Ctrl-C saves the running runs and stops.\n"
      "Exit codes of run: 0 all done, 2 bad sweep file, 3 some diverged, 4 some failed, 5 stopped early.");

  CLI::App* plan = sweep->add_subcommand("plan", "List all runs of a sweep; writes nothing");
  AddSpec(*plan, *arguments, "sweep file (YAML)");
  AddJobs(*plan, *arguments);
  plan->callback([=, &exit_code] { exit_code = Plan(*arguments); });

  CLI::App* run = sweep->add_subcommand("run", "Run what is missing of a sweep");
  AddSpec(*run, *arguments, "sweep file (YAML)");
  AddJobs(*run, *arguments);
  run->add_option("--on-error", arguments->on_error,
                  "what a failed run does to the others (default: continue)")
      ->check(CLI::IsMember({"continue", "stop"}));
  run->add_option("--retry", arguments->retry, "run these again")->check(CLI::IsMember({"failed"}));
  run->add_flag("--quiet", arguments->quiet, "print failures and the summary only");
  run->callback([=, &exit_code] { exit_code = Run(*arguments); });

  CLI::App* status = sweep->add_subcommand("status", "Say where every run of a sweep stands");
  AddSpec(*status, *arguments, "sweep file (YAML), or the folder of a sweep");
  status->add_flag("--json", arguments->json, "print JSON");
  status->callback([=, &exit_code] { exit_code = Status(*arguments); });
}

}  // namespace dark
