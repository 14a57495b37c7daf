#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "app/commands.h"
#include "core/error.h"
#include "core/setting.h"

namespace {

// CLI11 would only say that a subcommand is required.
void RequireKnownCommand(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return;
  const std::string nearest = dark::NearestName(argv[1], names);
  throw dark::Error(
      fmt::format("unknown command '{}'; {}", argv[1],
                  nearest.empty() ? "darkformer --help lists all" : "did you mean '" + nearest + "'?"));
}

int Run(int argc, char** argv) {
  CLI::App app{
      "Darkformer: learning-rate sweeps of exact and random-feature attention, with stability reports.\n"
      "Start with: darkformer sweep run experiments/recipes/quickstart.yaml",
      "darkformer"};
  app.footer(
      "Exit codes: 0 ok, 2 bad usage or config, 3 some runs diverged, 4 some runs failed, "
      "5 stopped early and resumable.\nHelp with examples: darkformer COMMAND --help");
  app.require_subcommand(1);
  app.set_version_flag("--version", DARKFORMER_VERSION);
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is then a write error like a full disk, not a kill
  int exit_code = 0;
  for (const auto add : {dark::AddTrain, dark::AddSweep, dark::AddReport, dark::AddInspect, dark::AddRepair,
                         dark::AddKeys, dark::AddData, dark::AddGenerate, dark::AddDoctor, dark::AddBench})
    add(app, exit_code);
  RequireKnownCommand(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(dark::Exit::kUsage);
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const dark::Error& error) {
    fmt::print(stderr, "darkformer: {}\n", error.what());
    return static_cast<int>(error.exit());
  } catch (const std::exception& error) {
    fmt::print(stderr, "darkformer: unexpected: {}\n", error.what());
    return static_cast<int>(dark::Exit::kFailed);
  }
}
