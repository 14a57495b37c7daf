#include <memory>

#include <fmt/format.h>

#include "app/commands.h"
#include "core/error.h"
#include "experiments/run_file/describe.h"
#include "experiments/run_file/repair.h"
#include "experiments/run_file/run_file.h"

namespace dark {
namespace {

struct InspectOptions {
  std::string path;
  std::size_t rows = 5;
  std::string csv;
  bool config = false;
  bool schema = false;
};

void Inspect(const InspectOptions& options) {
  if (options.schema) {
    fmt::print("{}", SchemaMarkdown());
    return;
  }
  if (options.path.empty()) throw Error("inspect needs a run file or a run directory");
  const RunData run = ReadRepairedRun(RunPathOf(options.path));
  if (!options.csv.empty())
    fmt::print("{}", TableCsv(run, options.csv));
  else if (options.config)
    fmt::print("{}", run.attributes.count("config") > 0 ? run.attributes.at("config") : "");
  else
    fmt::print("{}", DescribeRun(run, options.rows));
}

}  // namespace

void AddInspect(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("inspect", "Show what is in a run file, also of a run that trains");
  command->footer(
      "A run that was killed is repaired first, so that other programs see all of it too.\n"
      "Examples:\n"
      "  darkformer inspect runs/quickstart/trials/exact-lr1e-3-seed1\n"
      "  darkformer inspect run.h5 --rows 20\n"
      "  darkformer inspect run.h5 --csv steps > steps.csv\n"
      "  darkformer inspect run.h5 --config > again.yaml");
  const auto options = std::make_shared<InspectOptions>();
  command->add_option("RUN", options->path, "Run file, or the run directory that holds run.h5");
  command->add_option("--rows", options->rows, "Steps and evaluations to show, from the end")
      ->capture_default_str();
  command->add_option("--csv", options->csv, "Print one table as CSV: steps, eval or health");
  command->add_flag("--config", options->config, "Print the resolved config as YAML");
  command->add_flag("--schema", options->schema, "Print the tables and columns of run files as Markdown");
  command->callback([options] { Inspect(*options); });
}

}  // namespace dark
