#include "analysis/report.h"

#include <fmt/format.h>

#include <memory>

#include "app/commands.h"

namespace dark {

void AddReport(CLI::App& app, int& exit_code) {
  struct Options {
    std::vector<std::string> dirs;
    std::string out;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("report", "Report on runs: spikes, stability, loss and accuracy");
  command->add_option("DIR", options->dirs, "folders with runs at any depth, or run files")->required();
  command->add_option("--out", options->out, "folder to write to (default: DIR/report)");
  command->footer(
      "Runs that still train or were killed are part of the report. Files that cannot be read are listed, "
      "and the "
      "exit code is then 4.\n\nExamples:\n"
      "  darkformer report runs/quickstart\n"
      "  darkformer report runs/a runs/b --out comparison");
  command->callback([options, &exit_code] {
    const Report report = WriteReport(options->dirs, options->out);
    fmt::print("{}{}\n{}\n", report.summary, report.html, report.markdown);
    exit_code = static_cast<int>(report.exit());
  });
}

}  // namespace dark
