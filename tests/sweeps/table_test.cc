#include "sweeps/table.h"

#include <catch2/catch.hpp>

#include "core/random.h"

namespace dark {
namespace {

const std::vector<Column> kColumns = {
    {"run", false, 0}, {"step", true, 1}, {"loss", true, 2}, {"tok/s", true, 3}};

TEST_CASE("a table is aligned, numbers to the right, without trailing blanks") {
  CHECK(FormatTable(kColumns, {{"a", "10/200", "2.5", "1k"}, {"longer", "5/200", "-", ""}}) ==
        std::vector<std::string>{"run       step  loss  tok/s", "a       10/200   2.5     1k",
                                 "longer   5/200     -"});
}

TEST_CASE("no line exceeds the width, columns leave by rank, names keep both ends") {
  const std::string name = "lr=0.0003_attention=darkformer_m=64_s1-1a2b3c4d";
  const std::vector<std::vector<std::string>> rows = {{name, "100/200", "2.3456", "12.3k"}};
  for (std::size_t width = 1; width < 120; ++width)
    for (const std::string& line : FormatTable(kColumns, rows, width)) CHECK(line.size() <= width);
  const std::vector<std::string> narrow = FormatTable(kColumns, rows, 33);
  CHECK(narrow[0].find("tok/s") == std::string::npos);
  CHECK(narrow[0].find("loss") != std::string::npos);
  CHECK(narrow[1].rfind("lr=", 0) == 0);
  CHECK(narrow[1].find("4d") != std::string::npos);
}

TEST_CASE("texts are shortened in the middle to the width exactly") {
  Stream random(5, "shorten");
  for (int round = 0; round < 500; ++round) {
    const std::string text(random.Below(60), 'x');
    const std::size_t width = random.Below(60);
    CHECK(Shorten(text, width).size() == std::min(text.size(), width));
  }
  CHECK(Shorten("abcdefghij", 8) == "abc..hij");
}

TEST_CASE("quantities are printed for people") {
  CHECK(HumanBytes(0) == "0 B");
  CHECK(HumanBytes(999) == "999 B");
  CHECK(HumanBytes(2.34e9) == "2.3 GB");
  CHECK(HumanBytes(999.96e3) == "1.0 MB");
  CHECK(HumanCount(1234) == "1.2k");
  CHECK(HumanCount(123456) == "123k");
  CHECK(HumanSeconds(1.25) == "1.2 s");
  CHECK(HumanSeconds(59.97) == "1m 00s");
  CHECK(HumanSeconds(3725) == "1h 02m");
  CHECK(HumanSeconds(90000) == "1d 01h");
}

}  // namespace
}  // namespace dark
