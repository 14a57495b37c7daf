#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/app/shell.h"

namespace dark {
namespace {

using Catch::Contains;
namespace fs = std::filesystem;

const std::string kScripts = SOURCE_DIR "/scripts/";

void WriteProgram(const fs::path& path, const std::string& body) {
  std::ofstream(path) << "#!/bin/bash\n" << body << "\n";
  fs::permissions(path, fs::perms::owner_all);
}

/// A PATH with what the set-up script itself needs and nothing that it looks for.
class BarePath {
 public:
  BarePath() {
    for (const std::string tool : {"bash", "cat", "env", "sort", "tr"})
      fs::create_symlink("/usr/bin/" + tool, path() + "/" + tool);
  }
  const std::string& path() const { return folder_.path(); }
  ShellResult Setup(const std::string& groups) const {
    return RunShell("PATH='" + path() + "' " + kScripts + "setup " + groups);
  }

 private:
  TemporaryFolder folder_;
};

TEST_CASE("set-up without apt names what is missing and stops") {
  const ShellResult result = BarePath().Setup("build run");
  CHECK(result.code == 1);
  for (const char* package : {"cmake", "ninja-build", "g++", "gnuplot-nox", "bible-kjv"})
    CHECK_THAT(result.output, Contains(package));
  CHECK_THAT(result.output, !Contains("clang-tidy") && !Contains("installing"));
}

TEST_CASE("set-up refuses a group it does not know") { CHECK(BarePath().Setup("build tset").code == 2); }

TEST_CASE("set-up installs everything that is missing in one call") {
  if (::geteuid() != 0) return;  // asks sudo otherwise
  const BarePath bare;
  const std::string log = bare.path() + "/log";
  WriteProgram(bare.path() + "/apt-get", "echo \"$*\" >>'" + log + "'");
  REQUIRE(bare.Setup("build").code == 0);
  std::ifstream file(log);
  std::string update;
  std::string install;
  std::string more;
  std::getline(file, update);
  std::getline(file, install);
  CHECK(update == "update -q");
  CHECK_THAT(install,
             Contains("install") && Contains(" cmake") && Contains(" g++") && Contains(" ninja-build"));
  CHECK_FALSE(std::getline(file, more));
}

TEST_CASE("set-up reports a failed installation") {
  if (::geteuid() != 0) return;
  const BarePath bare;
  WriteProgram(bare.path() + "/apt-get", "[[ $1 == update ]]");
  const ShellResult result = bare.Setup("build");
  CHECK(result.code == 1);
  CHECK_THAT(result.output, Contains("apt-get install failed") && Contains("cmake"));
}

TEST_CASE("set-up with nothing missing does nothing") {
  const TemporaryFolder folder;
  WriteProgram(folder.path() + "/apt-get", "echo called");
  const ShellResult result = RunShell("PATH='" + folder.path() + "':$PATH " + kScripts + "setup build test");
  CHECK(result.code == 0);
  CHECK(result.output.empty());
}

TEST_CASE("quickstart reports what there is to report and passes on how the sweep ended") {
  struct Outcome {
    int sweep;
    bool reported;
    int exit;
  };
  for (const auto& [sweep, reported, exit] :
       {Outcome{0, true, 0}, {3, true, 0}, {4, true, 4}, {5, false, 5}, {2, false, 2}}) {
    const TemporaryFolder folder;
    WriteProgram(folder.path() + "/darkformer",
                 "echo \"$*\"; [[ $1 == report ]] || exit " + std::to_string(sweep));
    const ShellResult result = RunShell(kScripts + "quickstart '" + folder.path() + "' out 'a text.txt'");
    INFO(result.output);
    CHECK(result.code == exit);
    CHECK_THAT(result.output, Contains("--set data.text=a text.txt --out out"));
    CHECK((result.output.find("report out --out out/report") != std::string::npos) == reported);
  }
}

TEST_CASE("the rooms of this source tree include downwards only") {
  const ShellResult tree = RunShell(PYTHON " " + kScripts + "check_layers");
  INFO(tree.output);
  CHECK(tree.code == 0);
  const ShellResult check = RunShell(PYTHON " " + kScripts + "check_layers --self-test");
  INFO(check.output);
  CHECK(check.code == 0);
}

}  // namespace
}  // namespace dark
