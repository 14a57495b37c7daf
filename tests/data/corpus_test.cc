#include "data/corpus.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "data/content_hash.h"
#include "tests/data/generated.h"
#include "tests/temporary_folder.h"

namespace dark {
namespace {

using Catch::Contains;
using namespace std::string_literals;

TEST_CASE("a text file is read byte for byte", "[corpus]") {
  const TemporaryFolder folder;
  Stream random(1, "corpus");
  for (const std::size_t size : {1, 2, 4095, 4096, 4097, 100'000}) {
    std::string bytes = RandomBytes(random, size);
    bytes[0] = 'x';  // not all white space
    REQUIRE(ReadCorpus(folder.Write("text", bytes)) == bytes);
  }
}

TEST_CASE("a text is marked by the hash of what is read", "[corpus]") {
  const TemporaryFolder folder;
  Stream random(2, "corpus");
  for (const std::size_t size : {5, 300'000, 600'001}) {
    std::string bytes = RandomBytes(random, size);
    bytes[0] = 'x';
    folder.Write("texts/" + std::to_string(size), bytes);
    folder.Write("texts/0" + std::to_string(size), "short");
    for (const std::string& path : {folder / "texts", folder / "texts/" + std::to_string(size)}) {
      const std::string text = ReadCorpus(path);
      const CorpusMark mark = MarkCorpus(path);
      REQUIRE(mark.hash == ContentHash(text));
      REQUIRE(mark.bytes == text.size());
    }
  }
}

TEST_CASE("a folder is read in path order, documents one empty line apart", "[corpus]") {
  const TemporaryFolder folder;
  folder.Write("texts/b.txt", "second");
  folder.Write("texts/a/z.txt", "first");
  folder.Write("texts/b/c/deep.txt", "third\0\xFF"s);
  folder.Write("texts/d.txt", "");
  folder.Write("texts/.hidden", "no");
  folder.Write("texts/.git/config", "no");
  CHECK(ReadCorpus(folder / "texts") == "first\n\nsecond\n\nthird\0\xFF"s);
  CHECK(ReadCorpus(folder / "texts/") == ReadCorpus(folder / "texts"));
}

TEST_CASE("what cannot be trained on is named with its path and counts", "[corpus]") {
  const TemporaryFolder folder;
  const auto problem = [](const std::string& path) {
    const std::string error = ErrorOf([&] { ReadCorpus(path); });
    CHECK(ErrorOf([&] { MarkCorpus(path); }) == error);
    return error;
  };
  CHECK_THAT(problem(""), Contains("2: no text given: data.text"));
  CHECK(problem(folder / "none") == "2: text " + (folder / "none") + " does not exist");
  folder.Write("empty.txt", "");
  CHECK(problem(folder / "empty.txt") == "2: text file " + (folder / "empty.txt") + " is empty: 0 bytes");
  folder.Write("white.txt", " \t\n\v\f\r ");
  CHECK(problem(folder / "white.txt") ==
        "2: text " + (folder / "white.txt") + " is only white space: 7 bytes");
  std::filesystem::create_directories(folder / "empty/sub");
  CHECK(problem(folder / "empty") == "2: text folder " + (folder / "empty") + " has no files");
  folder.Write("nothing/a", "");
  folder.Write("nothing/b", "");
  CHECK(problem(folder / "nothing") ==
        "2: text folder " + (folder / "nothing") + " is empty: 2 files, 0 bytes");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THAT(problem(folder / "pipe"), Contains("is neither a file nor a folder"));
  // A file whose reading fails even for root: address 0 of this process.
  CHECK_THAT(problem("/proc/self/mem"), Contains("2: /proc/self/mem: cannot read: Input/output error"));
  folder.Write("file", "x");
  CHECK_THAT(problem(folder / "file/below"), Contains("2: ") && Contains("file/below"));
}

}  // namespace
}  // namespace dark
