#include "data/mapped_file.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "core/files/replace_file.h"
#include "tests/data/generated.h"
#include "tests/temporary_folder.h"

namespace dark {
namespace {

TEST_CASE("what is written is mapped again", "[mapped_file]") {
  const TemporaryFolder folder;
  Stream random(1, "mapped_file");
  for (const std::size_t size : {0, 1, 4096, 70'001}) {
    const std::string bytes = RandomBytes(random, size);
    ReplaceFile(folder / "f", bytes);
    MappedFile mapped(folder / "f");
    const MappedFile moved(std::move(mapped));
    REQUIRE(moved.bytes().size() == size);
    REQUIRE((size == 0 || std::memcmp(moved.bytes().data(), bytes.data(), size) == 0));
  }
}

TEST_CASE("a mapping keeps its bytes when the file is replaced", "[mapped_file]") {
  const TemporaryFolder folder;
  ReplaceFile(folder / "f", "old");
  const MappedFile mapped(folder / "f");
  ReplaceFile(folder / "f", "new and longer");
  CHECK(std::memcmp(mapped.bytes().data(), "old", 3) == 0);
  CHECK(mapped.bytes().size() == 3);
}

TEST_CASE("a missing file is named", "[mapped_file]") {
  const TemporaryFolder folder;
  CHECK(ErrorOf([&] { MappedFile(folder / "none"); }) ==
        "4: " + (folder / "none") + ": cannot open: No such file or directory");
}

}  // namespace
}  // namespace dark
