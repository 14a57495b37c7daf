#include <catch2/catch.hpp>
#include <chrono>

#include "core/error.h"
#include "experiments/config/run_config.h"
#include "tests/config/random_config.h"

namespace dark {
namespace {

// Cuts, copies, swaps in YAML's special characters and flips bits: what typing and broken disks do.
std::string Mutate(std::string text, Stream& stream) {
  static const std::vector<std::string> pieces = {
      "[", "]",  "{",  "}", ": ", "- ", "\n",    "\n ", "\t",  "#", "&a ",  "*a", "!x ",   "| ",   "> ",
      "'", "\"", "? ", "%", ",",  "~",  "---\n", "<<",  "1e9", "-", "\r\n", "\\", "...\n", "\xff", "é"};
  for (std::uint64_t times = 1 + stream.Below(6); times > 0; --times) {
    const std::size_t at = stream.Below(text.size() + 1);
    const std::size_t length = std::min(text.size() - at, std::size_t{1} << stream.Below(8));
    switch (stream.Below(4)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(stream.Below(text.size() + 1), text.substr(at, length));
        break;
      case 2:
        text.insert(at, pieces[stream.Below(pieces.size())]);
        break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << stream.Below(8)));
    }
  }
  return text;
}

TEST_CASE("a damaged config parses or is refused with its place, and never crashes") {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  Stream stream(5, "fuzz");
  std::int64_t parsed = 0;
  std::int64_t refused = 0;
  std::string text = CanonicalYaml(RandomConfig(stream));
  while (std::chrono::steady_clock::now() < end) {
    if (stream.Below(4) == 0) text = CanonicalYaml(RandomConfig(stream));
    text = Mutate(text, stream);
    CAPTURE(text);
    try {
      const RunConfig config = ParseRunConfig(text, "fuzz");
      REQUIRE(SameSettings(ParseRunConfig(CanonicalYaml(config), "again"), config));
      ++parsed;
    } catch (const Error& error) {
      const std::string message = error.what();
      CAPTURE(message);
      REQUIRE(message.rfind("fuzz:", 0) == 0);
      REQUIRE(error.exit() == Exit::kUsage);
      ++refused;
    }
  }
  CHECK(parsed > 10);
  CHECK(refused > 100);
}

}  // namespace
}  // namespace dark
