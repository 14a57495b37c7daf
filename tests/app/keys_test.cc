#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/app/shell.h"

namespace dark {
namespace {

TEST_CASE("the README's table of keys is what the program prints") {
  std::ifstream file(SOURCE_DIR "/README.md");
  const std::string readme{std::istreambuf_iterator<char>(file), {}};
  const std::string begin = "<!-- keys:begin -->\n\n";
  const std::size_t from = readme.find(begin);
  const std::size_t to = readme.find("\n<!-- keys:end -->");
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  const std::string table = readme.substr(from + begin.size(), to - from - begin.size());
  INFO("scripts/update_readme_keys brings the README up to date");
  CHECK(table == RunShell(DARKFORMER " keys --markdown").output);
}

TEST_CASE("keys prints every key with type, default and range") {
  const std::string table = RunShell(DARKFORMER " keys").output;
  CHECK(table.find("\noptim.lr ") != std::string::npos);
  CHECK(table.find("real, default 0.001, allowed: 0 to 1000\n") != std::string::npos);
  CHECK(table.find("(performer, darkformer, lfk)\n") != std::string::npos);
}

}  // namespace
}  // namespace dark
