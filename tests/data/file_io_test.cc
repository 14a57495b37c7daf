#include "data/file_io.h"

#include <signal.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "tests/data/generated.h"
#include "tests/data/temporary_folder.h"

namespace dark {
namespace {

using Catch::Contains;

std::size_t FilesIn(const std::string& folder) {
  const auto all = std::filesystem::directory_iterator(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

void WriteText(const std::string& path, const std::string& text) {
  WriteFileAtomically(path, {std::as_bytes(std::span(text))});
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

TEST_CASE("what is written is read and mapped again", "[file_io]") {
  const TemporaryFolder folder;
  Stream random(1, "file_io");
  for (const std::size_t size : {0, 1, 4096, 70'001}) {
    const std::string first = RandomBytes(random, size), second = RandomBytes(random, size / 2);
    WriteFileAtomically(folder / "f", {std::as_bytes(std::span(first)), std::as_bytes(std::span(second))});
    REQUIRE(ReadFile(folder / "f") == first + second);
    MappedFile mapped(folder / "f");
    const MappedFile moved(std::move(mapped));
    REQUIRE(moved.bytes().size() == first.size() + second.size());
    REQUIRE((size == 0 || std::memcmp(moved.bytes().data(), (first + second).data(), size) == 0));
  }
  CHECK(FilesIn(folder.path()) == 1);
}

TEST_CASE("a failed write leaves the old file and nothing else", "[file_io]") {
  const TemporaryFolder folder;
  WriteText(folder / "f", "old");
  std::string problem;
  {
    const FileSizeLimit limit(1000);
    problem = ErrorOf([&] { WriteText(folder / "f", std::string(5000, 'x')); });
  }
  CHECK(problem == "4: cannot write 5000 bytes to " + (folder / "f") + ": File too large");
  CHECK(ReadFile(folder / "f") == "old");
  CHECK(FilesIn(folder.path()) == 1);
  CHECK_THAT(ErrorOf([&] { WriteText(folder / "none/f", "x"); }),
             Contains("4: cannot create") && Contains("none/f: No such file or directory"));
}

TEST_CASE("a mapping keeps its bytes when the file is replaced", "[file_io]") {
  const TemporaryFolder folder;
  WriteText(folder / "f", "old");
  const MappedFile mapped(folder / "f");
  WriteText(folder / "f", "new and longer");
  CHECK(std::memcmp(mapped.bytes().data(), "old", 3) == 0);
  CHECK(mapped.bytes().size() == 3);
}

TEST_CASE("missing files are named", "[file_io]") {
  const TemporaryFolder folder;
  const std::string expected = "4: cannot open " + (folder / "none") + ": No such file or directory";
  CHECK(ErrorOf([&] { ReadFile(folder / "none"); }) == expected);
  CHECK(ErrorOf([&] { MappedFile(folder / "none"); }) == expected);
}

}  // namespace
}  // namespace dark
