#include <fmt/format.h>

#include <memory>

#include "app/commands.h"
#include "experiments/config/key_table.h"

namespace dark {

void AddKeys(CLI::App& app, int&) {
  CLI::App* command =
      app.add_subcommand("keys", "List every config key with type, default, range and meaning");
  command->footer(
      "Examples:\n"
      "  darkformer keys\n"
      "  darkformer keys --markdown        the table of the README (scripts/update_readme_keys puts it "
      "there)");
  const auto markdown = std::make_shared<bool>(false);
  command->add_flag("--markdown", *markdown, "Print a Markdown table");
  command->callback([markdown] { fmt::print("{}", *markdown ? KeyTableMarkdown() : KeyTableText()); });
}

}  // namespace dark
