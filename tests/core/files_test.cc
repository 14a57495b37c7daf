#include <signal.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "core/files/file.h"
#include "core/files/replace_file.h"
#include "tests/temporary_folder.h"

namespace dark {
namespace {

using Catch::Contains;

std::size_t FilesIn(const std::string& folder) {
  const auto all = std::filesystem::directory_iterator(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// Makes files end at `bytes`, as a full disk does, for as long as it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  sighandler_t handler_;
};

TEST_CASE("what is written in parts is read again", "[files]") {
  const TemporaryFolder folder;
  for (const std::size_t size : {0, 1, 4096, 70'001}) {
    const std::string first(size, 'a'), second(size / 2, '\0');
    ReplaceFile(folder / "f", {std::as_bytes(std::span(first)), std::as_bytes(std::span(second))});
    REQUIRE(ReadFile(folder / "f") == first + second);
  }
  CHECK(FilesIn(folder.path()) == 1);
  CHECK(ReadFile("/proc/self/cmdline").find("test_core") != std::string::npos);  // says size 0
}

TEST_CASE("a failed write leaves the old file and nothing else", "[files]") {
  const TemporaryFolder folder(TemporaryFolder::On::kDisk);
  ReplaceFile(folder / "f", "old");
  {
    const FileSizeLimit limit(1000);
    CHECK_THROWS_WITH(ReplaceFile(folder / "f", std::string(5000, 'x')),
                      Contains(folder / "f") && Contains("5000 bytes needed") && Contains("File too large"));
  }
  CHECK(ReadFile(folder / "f") == "old");
  CHECK(FilesIn(folder.path()) == 1);
}

TEST_CASE("errors of files name the path and the cause", "[files]") {
  const TemporaryFolder folder;
  folder.Write("file", "");
  CHECK_THROWS_WITH(ReadFile(folder / "none"),
                    (folder / "none") + ": cannot open: No such file or directory");
  CHECK_THROWS_WITH(ReadFile(folder.path()), folder.path() + ": cannot read: Is a directory");
  CHECK_THROWS_WITH(ReplaceFile(folder / "none/f", "x"),
                    Contains("none/f: cannot create") && Contains("No such file or directory"));
  CHECK_THROWS_WITH(MakeFolders(folder / "file/f"), Contains("file/f: cannot create: Not a directory"));
}

}  // namespace
}  // namespace dark
