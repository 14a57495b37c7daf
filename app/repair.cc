#include <memory>

#include <fmt/format.h>

#include "app/commands.h"
#include "core/error.h"
#include "experiments/run_file/repair.h"

namespace dark {
namespace {

Exit RunRepair(const std::vector<std::string>& paths) {
  Exit exit = Exit::kOk;
  for (const Repair& repair : RepairAll(paths)) {
    fmt::print("{}\n", repair.message);
    if (repair.outcome == Repair::Outcome::kFailed) exit = Exit::kFailed;
  }
  return exit;
}

}  // namespace

void AddRepair(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("repair", "Fold what killed runs left in their journals into their HDF5 files");
  command->footer(
      "Our own commands repair on sight; this is for other readers of HDF5. Runs that train are left alone.\n"
      "Examples:\n"
      "  darkformer repair runs               every run below a folder\n"
      "  darkformer repair runs/a/run.h5 runs/b");
  const auto paths = std::make_shared<std::vector<std::string>>();
  command->add_option("PATH", *paths, "Run files, run directories or folders of them")->required();
  command->callback([paths, &exit_code] { exit_code = static_cast<int>(RunRepair(*paths)); });
}

}  // namespace dark
