#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <regex>

#include "tests/app/shell.h"

namespace dark {
namespace {

using Catch::Contains;

std::string Readme() {
  std::ifstream file(SOURCE_DIR "/README.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("the README's first sweep expands to the runs it promises") {
  const std::string readme = Readme();
  const std::string fence = "```yaml\n";
  const std::size_t begin = readme.find(fence) + fence.size();
  const std::string yaml = readme.substr(begin, readme.find("```", begin) - begin);
  REQUIRE_THAT(yaml, Contains("= 30 runs"));
  const TemporaryFolder folder;
  std::ofstream(folder.path() + "/first.yaml") << yaml;
  const ShellResult plan = RunShell("cd '" + folder.path() + "' && " DARKFORMER " sweep plan first.yaml");
  INFO(plan.output);
  CHECK(plan.code == 0);
  CHECK_THAT(plan.output, Contains("30 runs"));
}

TEST_CASE("every command the README names exists") {
  const std::string readme = Readme();
  const std::regex row("\\n\\| `darkformer ((?:sweep |data )?[a-z]+)");
  int commands = 0;
  for (std::sregex_iterator match(readme.begin(), readme.end(), row), end; match != end;
       ++match, ++commands) {
    const ShellResult help = RunShell(DARKFORMER " " + (*match)[1].str() + " --help");
    INFO((*match)[1].str());
    CHECK(help.code == 0);
    CHECK_THAT(help.output, Contains("Usage:"));
  }
  CHECK(commands == 12);
}

}  // namespace
}  // namespace dark
