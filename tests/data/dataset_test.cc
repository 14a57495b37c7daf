#include "data/dataset.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>

#include "core/files/file.h"
#include "data/content_hash.h"
#include "data/prepare.h"
#include "data/split.h"
#include "tests/data/generated.h"
#include "tests/temporary_folder.h"

namespace dark {
namespace {

using Catch::Contains;

// Options for a text that stands, with its cache, in `folder`.
DataOptions OptionsFor(const TemporaryFolder& folder, const std::string& text) {
  DataOptions options;
  options.text = folder.Write("text.txt", text);
  options.cache = folder / "cache";
  return options;
}

std::string Prose(std::size_t size) {
  Stream random(size, "dataset");
  return RandomProse(random, size);
}

std::string Joined(const std::vector<std::string_view>& pieces) {
  std::string text;
  for (const auto piece : pieces) text += piece;
  return text;
}

std::set<std::string> FilesIn(const std::string& folder) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.insert(entry.path().filename().string());
  return files;
}

TEST_CASE("both splits decode to their parts of the text, with either tokenizer", "[dataset]") {
  const TemporaryFolder folder;
  const std::string text = Prose(150'000);
  DataOptions options = OptionsFor(folder, text);
  const Split split = SplitText(text, ContentHash(text), options.val_fraction);
  std::set<std::string> split_hashes, data_hashes, paths;
  for (const std::string tokenizer : {"byte", "bpe"}) {
    options.tokenizer = tokenizer;
    options.vocab = 300;
    const Dataset data = Dataset::Open(options, 128);
    CHECK(data.vocab() == (tokenizer == "byte" ? 256 : 300));
    CHECK(data.vocab() == data.tokenizer().vocab());
    CHECK(data.tokenizer().Decode(data.train()) == Joined(split.train));
    CHECK(data.tokenizer().Decode(data.validation()) == Joined(split.validation));
    CHECK(data.data_hash() == Hex(ContentHash(text)));
    split_hashes.insert(data.split_hash());
    paths.insert(data.path());
  }
  CHECK(split_hashes == std::set<std::string>{Hex(split.hash)});
  CHECK(paths.size() == 2);
}

TEST_CASE("BPE learns from the training part only", "[dataset]") {
  const TemporaryFolder folder;
  std::string text = Prose(30'000);
  DataOptions options = OptionsFor(folder, text);
  options.tokenizer = "bpe";
  const std::uint64_t hash = ContentHash(text);
  const Tokenizer before = PrepareText(text, hash, options).tokenizer;
  // Another held-out part of the same length, in the same place: the hash that draws the place is kept.
  for (const std::string_view piece : SplitText(text, hash, options.val_fraction).validation)
    text.replace(static_cast<std::size_t>(piece.data() - text.data()), piece.size(), piece.size(), 'q');
  REQUIRE(PrepareText(text, hash, options).tokenizer == before);
}

TEST_CASE("a prepared text is found again by its content", "[dataset]") {
  const TemporaryFolder folder;
  DataOptions options = OptionsFor(folder, Prose(20'000));
  const Dataset first = Dataset::Open(options, 64);
  const auto written = std::filesystem::last_write_time(first.path());
  options.text = folder.Write("other name.txt", Prose(20'000));
  options.vocab = 1000;  // means nothing to the byte tokenizer
  const Dataset second = Dataset::Open(options, 64);
  CHECK(second.path() == first.path());
  CHECK(std::filesystem::last_write_time(first.path()) == written);
  CHECK(FilesIn(options.cache).size() == 1);

  // Same name, size and time, other content.
  const auto text_time = std::filesystem::last_write_time(options.text);
  std::string changed = Prose(20'000);
  changed[10'000] ^= 1;
  folder.Write("other name.txt", changed);
  std::filesystem::last_write_time(options.text, text_time);
  const Dataset third = Dataset::Open(options, 64);
  CHECK(third.path() != first.path());
  CHECK(third.data_hash() != first.data_hash());
  options.val_fraction = 0.2;
  CHECK(Dataset::Open(options, 64).path() != third.path());
  CHECK(FilesIn(options.cache).size() == 3);
}

TEST_CASE("processes that prepare the same text at once all succeed", "[dataset]") {
  const TemporaryFolder folder;
  DataOptions options = OptionsFor(folder, Prose(200'000));
  options.tokenizer = "bpe";
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string problem = ErrorOf([&] { Dataset::Open(options, 64); });
      ::_exit(problem == "nothing" ? 0 : 1);
    }
    REQUIRE(child > 0);
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
  CHECK(FilesIn(options.cache).size() == 1);  // one shard, no temporary names
  CHECK(Dataset::Open(options, 64).train().size() > 1000);
}

TEST_CASE("copies share the tokens and keep them alive", "[dataset]") {
  const TemporaryFolder folder;
  std::optional<Dataset> original = Dataset::Open(OptionsFor(folder, Prose(5000)), 16);
  const Dataset copy = *original;
  CHECK(copy.train().data() == original->train().data());
  original.reset();
  CHECK(copy.tokenizer().Decode(copy.train()).size() == 4500);
}

TEST_CASE("a text shorter than the context is refused with counts, before training", "[dataset]") {
  const TemporaryFolder folder;
  const auto problem = [&](std::size_t size, Index context) {
    const DataOptions options = OptionsFor(folder, std::string(size, 'x'));
    return ErrorOf([&] { Dataset::Open(options, context); });
  };
  const std::string path = folder / "text.txt";
  CHECK(problem(1, 8) ==
        "2: text " + path +
            " (1 bytes): training split has no window of context + 1 tokens: " + "1 tokens, need at least 9");
  CHECK_THAT(problem(8, 8), Contains("training split") && Contains("7 tokens, need at least 9"));
  CHECK_THAT(problem(9, 8), Contains("training split") && Contains("8 tokens, need at least 9"));
  CHECK_THAT(problem(80, 8), Contains("validation split") && Contains("8 tokens, need at least 9"));
  CHECK(problem(90, 8) == "nothing");
  CHECK_THAT(problem(89, 9), Contains("validation split"));
}

TEST_CASE("options out of range are refused by name", "[dataset]") {
  const TemporaryFolder folder;
  const auto problem = [&](auto change) {
    DataOptions options = OptionsFor(folder, Prose(3000));
    change(options);
    return ErrorOf([&] { Dataset::Open(options, 8); });
  };
  CHECK_THAT(problem([](DataOptions& o) { o.tokenizer = "words"; }),
             Contains("2: data.tokenizer is \"words\""));
  CHECK_THAT(problem([](DataOptions& o) { o.val_fraction = 1.5; }), Contains("2: data.val_fraction is 1.5"));
  CHECK_THAT(problem([](DataOptions& o) { o.val_fraction = std::nan(""); }), Contains("data.val_fraction"));
  CHECK_THAT(problem([](DataOptions& o) {
               o.tokenizer = "bpe";
               o.vocab = 256;
             }),
             Contains("2: data.vocab is 256"));
}

TEST_CASE("a damaged or foreign shard is refused, and prepared anew once deleted", "[dataset]") {
  const TemporaryFolder folder;
  const DataOptions options = OptionsFor(folder, Prose(3000));
  const std::string path = Dataset::Open(options, 8).path();
  const std::string whole = ReadFile(path);
  std::filesystem::resize_file(path, whole.size() - 1);
  CHECK_THAT(ErrorOf([&] { Dataset::Open(options, 8); }), Contains(path) && Contains("delete the file"));

  DataOptions other = options;
  other.text = folder.Write("other.txt", Prose(4000));
  std::filesystem::rename(Dataset::Open(other, 8).path(), path);
  CHECK_THAT(ErrorOf([&] { Dataset::Open(options, 8); }), Contains("tokens of another text"));
  std::filesystem::remove(path);
  Dataset::Open(options, 8);
  CHECK(ReadFile(path) == whole);
}

TEST_CASE("a cache inside the text folder is refused", "[dataset]") {
  const TemporaryFolder folder;
  folder.Write("texts/a.txt", Prose(3000));
  DataOptions options;
  options.text = folder / "texts";
  for (const std::string cache : {"texts", "texts/cache", "texts/../texts/cache"}) {
    options.cache = folder / cache;
    CHECK_THAT(ErrorOf([&] { Dataset::Open(options, 8); }),
               Contains("2: the cache") && Contains("lies inside"));
  }
  for (const std::string cache : {"texts-cache", "texts/../cache"}) {
    options.cache = folder / cache;
    CHECK(ErrorOf([&] { Dataset::Open(options, 8); }) == "nothing");
  }
}

TEST_CASE("the cache goes where the user's cache is", "[dataset]") {
  const TemporaryFolder folder;
  const auto with = [](const char* xdg, const char* home) {
    // Restored at once: other tests read the environment too.
    const char* old_xdg = std::getenv("XDG_CACHE_HOME");
    const char* old_home = std::getenv("HOME");
    const std::string keep_xdg = old_xdg ? old_xdg : "", keep_home = old_home ? old_home : "";
    ::setenv("XDG_CACHE_HOME", xdg, 1);
    ::setenv("HOME", home, 1);
    const std::string result = CacheFolder(DataOptions{});
    old_xdg ? ::setenv("XDG_CACHE_HOME", keep_xdg.c_str(), 1) : ::unsetenv("XDG_CACHE_HOME");
    old_home ? ::setenv("HOME", keep_home.c_str(), 1) : ::unsetenv("HOME");
    return result;
  };
  CHECK(with((folder / "xdg").c_str(), (folder / "home").c_str()) == folder / "xdg/darkformer");
  CHECK(with("relative/ignored", (folder / "home").c_str()) == folder / "home/.cache/darkformer");
  folder.Write("file", "not a folder");
  const std::string fallback = with((folder / "file").c_str(), "/dev/null");
  CHECK_THAT(fallback, Contains(std::filesystem::temp_directory_path().string()));
  DataOptions options;
  options.cache = folder / "file";
  CHECK_THAT(ErrorOf([&] { CacheFolder(options); }),
             Contains("4: no folder for prepared tokens: " + (folder / "file")));
}

TEST_CASE("tokens made elsewhere are a dataset", "[dataset]") {
  const Dataset data = Dataset::FromTokens({1, 2, 3, 4}, {5, 6}, 7);
  CHECK(data.vocab() == 7);
  CHECK(data.train().size() == 4);
  CHECK(data.validation()[1] == 6);
  CHECK(data.path().empty());
  CHECK(data.data_hash() != Dataset::FromTokens({1, 2, 3, 4}, {5, 5}, 7).data_hash());
  CHECK(ErrorOf([] {
          Dataset::FromTokens({1, 7}, {0}, 7);
        }) == "4: training tokens: token 7 at position 1 is beyond the vocabulary of 7");
}

}  // namespace
}  // namespace dark
