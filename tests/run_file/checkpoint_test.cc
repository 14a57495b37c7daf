#include <catch2/catch.hpp>

#include <signal.h>
#include <unistd.h>

#include <limits>

#include "experiments/run_file/checkpoint.h"
#include "experiments/run_file/run_file.h"
#include "tests/run_file/helpers.h"

namespace dark {
namespace {

/// A checkpoint of shapes and values drawn from `seed`, NaN and empty arrays included.
Checkpoint SomeCheckpoint(std::uint64_t seed) {
  Stream random(seed, "checkpoint");
  Checkpoint checkpoint;
  checkpoint.attributes = {
      {"step", std::to_string(seed)}, {"config", std::string(70000, 'y')}, {"empty", ""}};
  for (int i = 0; i < 12; ++i) {
    Checkpoint::Array array;
    std::size_t count = 1;
    for (std::uint64_t rank = random.Below(4); rank > 0; --rank) {
      array.shape.push_back(static_cast<std::int64_t>(random.Below(9)));
      count *= static_cast<std::size_t>(array.shape.back());
    }
    const auto fill = [&](auto value) {
      std::vector<decltype(value)> values(count);
      for (auto& x : values) x = static_cast<decltype(value)>(random.Normal() * 1e6);
      if (count > 0 && i < 2 * 4) values[0] = std::numeric_limits<decltype(value)>::quiet_NaN();
      array.values = values;
    };
    i % 3 == 0 ? fill(1.0f) : i % 3 == 1 ? fill(1.0) : fill(std::int64_t{1});
    checkpoint.arrays["moment" + std::to_string(i % 2) + "/layer." + std::to_string(i) + ".attn.q"] = array;
  }
  return checkpoint;
}

bool Same(const Checkpoint& a, const Checkpoint& b) {
  if (a.attributes != b.attributes || a.arrays.size() != b.arrays.size()) return false;
  for (const auto& [name, array] : a.arrays) {
    const auto found = b.arrays.find(name);
    if (found == b.arrays.end() || found->second.shape != array.shape) return false;
    const bool same = std::visit(
        [](const auto& x, const auto& y) {
          if constexpr (std::is_same_v<decltype(x), decltype(y)>) return SameRows(x, y);
          return false;
        },
        array.values, found->second.values);
    if (!same) return false;
  }
  return true;
}

TEST_CASE("a checkpoint gives back every bit, shape and type") {
  const TemporaryFolder folder(TemporaryFolder::On::kDisk);
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Checkpoint checkpoint = SomeCheckpoint(seed);
    SaveCheckpoint(folder / "checkpoint.h5", checkpoint);
    CHECK(Same(LoadCheckpoint(folder / "checkpoint.h5"), checkpoint));
  }
  SaveCheckpoint(folder / "checkpoint.h5", {});
  CHECK(Same(LoadCheckpoint(folder / "checkpoint.h5"), {}));
}

TEST_CASE("names and shapes that would come back different are refused, the old file stays") {
  const TemporaryFolder folder;
  const std::string path = folder / "checkpoint.h5";
  SaveCheckpoint(path, SomeCheckpoint(1));
  for (const char* name : {"", "/a", "a/", "a//b", "./a", "a/..", "a/./b"}) {
    Checkpoint bad;
    bad.arrays[name] = {{1}, std::vector<float>(1)};
    CHECK(FailureOf([&] { SaveCheckpoint(path, bad); }).find(path) == 0);
  }
  const std::vector<std::vector<std::int64_t>> shapes = {
      {2}, {-1, -3}, {0}, {std::int64_t{1} << 40, std::int64_t{1} << 40}};
  for (const auto& shape : shapes) {
    Checkpoint bad;
    bad.arrays["a"] = {shape, std::vector<float>(3)};
    CHECK(FailureOf([&] { SaveCheckpoint(path, bad); }).find("3 values") != std::string::npos);
  }
  Checkpoint clash;
  clash.arrays["a"] = {{1}, std::vector<float>(1)};
  clash.arrays["a/b"] = {{1}, std::vector<float>(1)};
  CHECK_FALSE(FailureOf([&] { SaveCheckpoint(path, clash); }).empty());
  CHECK(Same(LoadCheckpoint(path), SomeCheckpoint(1)));
}

TEST_CASE("any flipped bit, cut or foreign file is refused") {
  const TemporaryFolder folder;
  const std::string path = folder / "checkpoint.h5";
  SaveCheckpoint(path, SomeCheckpoint(1));
  const std::string whole = ReadText(path);
  Stream random(1, "damage");
  for (int i = 0; i < 300; ++i) {
    std::string bytes = whole;
    const std::uint64_t place = random.Below(whole.size());
    if (i % 3 == 0)
      bytes.resize(place);
    else
      bytes[place] = static_cast<char>(bytes[place] ^ (1 << random.Below(8)));
    WriteText(path, bytes);
    REQUIRE(FailureOf([&] { LoadCheckpoint(path); }).find(path) == 0);
  }
  WriteText(path, whole + "x");
  CHECK_FALSE(FailureOf([&] { LoadCheckpoint(path); }).empty());
  WriteRun(path, SomeRun(3));
  CHECK(FailureOf([&] { LoadCheckpoint(path); }).find("checkpoint_version") != std::string::npos);
  std::filesystem::remove(path);
  CHECK(FailureOf([&] { LoadCheckpoint(path); }) == path + ": no such file");
}

TEST_CASE("kill -9 during a save leaves the old checkpoint or the new one") {
  const TemporaryFolder folder;
  const std::string path = folder / "checkpoint.h5";
  const std::array<Checkpoint, 2> states = {SomeCheckpoint(1), SomeCheckpoint(2)};
  SaveCheckpoint(path, states[0]);
  Stream random(1, "kill");
  std::array<int, 2> seen{};
  for (int i = 0; i < 200; ++i) {
    const pid_t saver = Fork([&] {
      for (std::size_t round = 1;; ++round) SaveCheckpoint(path, states[round % 2]);
    });
    ::usleep(static_cast<useconds_t>(random.Below(8000)));
    ::kill(saver, SIGKILL);
    REQUIRE(Wait(saver) == -SIGKILL);
    const Checkpoint loaded = LoadCheckpoint(path);
    const std::size_t which = loaded.attributes.at("step") == "1" ? 0 : 1;
    REQUIRE(Same(loaded, states[which]));
    ++seen[which];
    REQUIRE(folder.Temporaries() <= 1);  // of this saver; each saver removes those of the dead
  }
  CHECK((seen[0] > 0 && seen[1] > 0));
  SaveCheckpoint(path, states[0]);
  CHECK(folder.Temporaries() == 0);
}

TEST_CASE("savers of one path at the same time never take each other's temporaries for stale") {
  const TemporaryFolder folder;
  const std::string path = folder / "checkpoint.h5";
  std::vector<pid_t> savers;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    savers.push_back(Fork([&] {
      const Checkpoint mine = SomeCheckpoint(seed);
      for (int i = 0; i < 30; ++i) SaveCheckpoint(path, mine);
    }));
  for (const pid_t saver : savers) CHECK(Wait(saver) == 0);
  const Checkpoint loaded = LoadCheckpoint(path);
  CHECK(Same(loaded, SomeCheckpoint(std::stoull(loaded.attributes.at("step")))));
}

}  // namespace
}  // namespace dark
