#include "sweeps/expand.h"

#include <catch2/catch.hpp>
#include <set>

#include "core/error.h"
#include "core/random.h"
#include "sweeps/trial_name.h"

namespace dark {
namespace {

const std::string kBase = "base: {data: {text: t}}\n";

Sweep Read(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return Expand(ParseSpec(kBase + text, "s.yaml"), overrides);
}

std::string Complaint(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    Read(text, overrides);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

std::vector<std::string> NamesWithoutId(const Sweep& sweep) {
  std::vector<std::string> names;
  for (const Trial& trial : sweep.trials) names.push_back(trial.name.substr(0, trial.name.rfind('-')));
  return names;
}

TEST_CASE("trials come in the order written and are named by what varies") {
  const Sweep sweep = Read(
      "grid:\n"
      "  optim.lr: [3e-4, 1e-5]\n"
      "  optim.beta1: [0.9]\n"
      "  attention: [exact, {variant: performer, m: [16, 64]}]\n"
      "seeds: [1, 7]\n");
  CHECK(NamesWithoutId(sweep) ==
        std::vector<std::string>{
            "lr=0.0003_attention=exact_s1", "lr=0.0003_attention=exact_s7",
            "lr=0.0003_attention=performer_m=16_s1", "lr=0.0003_attention=performer_m=16_s7",
            "lr=0.0003_attention=performer_m=64_s1", "lr=0.0003_attention=performer_m=64_s7",
            "lr=1e-05_attention=exact_s1", "lr=1e-05_attention=exact_s7",
            "lr=1e-05_attention=performer_m=16_s1", "lr=1e-05_attention=performer_m=16_s7",
            "lr=1e-05_attention=performer_m=64_s1", "lr=1e-05_attention=performer_m=64_s7"});
  for (const Trial& trial : sweep.trials) {
    CHECK(trial.id == ConfigHash(trial.config));
    CHECK(trial.name.substr(trial.name.size() - 8) == trial.id.substr(0, 8));
  }
}

TEST_CASE("a learning rate is one trial however it is written") {
  std::set<std::string> names;
  for (const char* lr : {"1e-4", "0.0001", "1.0E-04", "+1e-4", ".1e-3", "\"1e-4\""})
    names.insert(Read(std::string("grid: {optim.lr: [") + lr + "]}\n").trials[0].name);
  CHECK(names.size() == 1);
  CHECK(Read("grid: {optim.lr: [0.30000000000000004, 0.3]}\n").trials.size() == 2);
}

TEST_CASE("attention variants in a grid start from their own defaults") {
  const Sweep sweep =
      Expand(ParseSpec("base: {data: {text: t}, attention: {variant: performer, m: 8}}\n"
                       "grid: {attention: [performer, {variant: darkformer, m: 4}, exact]}\n",
                       "s.yaml"));
  REQUIRE(sweep.trials.size() == 3);
  CHECK(sweep.trials[0].config.attention.m == AttentionOptions().m);
  CHECK(sweep.trials[1].config.attention.m == 4);
  CHECK(sweep.trials[2].config.attention.variant == "exact");
}

TEST_CASE("exclude drops what matches all conditions of a rule, also points that cannot work") {
  const Sweep sweep = Read(
      "grid:\n"
      "  optim.lr: [1e-3, 2e-3]\n"
      "  attention: [exact, {variant: performer, m: [16, 64]}]\n"
      "exclude:\n"
      "  - {optim.lr: 0.0010, attention.variant: exact}\n"
      "  - {attention.m: 64.0}\n"
      "  - {train.steps: 77}\n");
  CHECK(NamesWithoutId(sweep) == std::vector<std::string>{"lr=0.001_attention=performer_s1",
                                                          "lr=0.002_attention=exact_s1",
                                                          "lr=0.002_attention=performer_s1"});
  REQUIRE(sweep.notices.size() == 1);
  CHECK(sweep.notices[0] == "s.yaml:8:5: this exclude rule matches no run");
  // 3 key/value heads do not divide 4 heads.
  const std::string grid = "grid: {model.heads: [4, 6], model.kv_heads: [2, 3], model.width: [96]}\n";
  CHECK(Complaint(grid) != "accepted");
  CHECK(Read(grid + "exclude: [{model.heads: 4, model.kv_heads: 3}]\n").trials.size() == 3);
  CHECK(Complaint("seeds: 2\nexclude: [{seed: [1, 2]}]\n") ==
        "sweep 's': the exclude rules leave nothing to run");
}

TEST_CASE("points that resolve to the same run are run once, with a notice") {
  const Sweep sweep = Read("grid: {attention: [{variant: performer}, {variant: performer, m: 64}]}\n");
  CHECK(sweep.trials.size() == 1);
  CHECK(sweep.notices ==
        std::vector<std::string>{"1 of the combinations say the same as others and run once"});
}

TEST_CASE("a bad point is found before anything runs, with its place") {
  CHECK(Complaint("grid: {optim.lrr: [1, 2]}\n").rfind("s.yaml:2:8: ", 0) == 0);
  CHECK(Complaint("grid: {optim.lr: [1e-3, fast]}\n").rfind("s.yaml:2:25: ", 0) == 0);
  CHECK(Complaint("grid: {attention: [exact, performr]}\n").rfind("s.yaml:2:27: ", 0) == 0);
  CHECK(Complaint("grid: {attention: [{variant: exact, m: 3}]}\n").rfind("s.yaml:2:", 0) == 0);
  CHECK(Complaint("grid: {attention: [{variant: exact, m: 3}]}\n").find("performer") != std::string::npos);
}

TEST_CASE("overrides change the base but never what the sweep varies") {
  CHECK(Read("seeds: 2\n", {"train.steps=9"}).trials[1].config.train.steps == 9);
  CHECK(Complaint("grid: {optim.lr: [1]}\n", {"optim.lr=2"}) ==
        "--set optim.lr: the sweep varies this key at s.yaml:2:8");
  CHECK(Complaint("grid: {attention: [performer]}\n", {"attention.m=2"}) ==
        "--set attention.m: the sweep varies this key at s.yaml:2:8");
}

TEST_CASE("an absurd number of points is refused before it is built") {
  std::string grid = "seeds: 10000\ngrid:\n";
  for (const char* key : {"optim.beta1", "optim.beta2", "optim.eps", "optim.clip"})
    grid += std::string("  ") + key + ": [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]\n";
  CHECK(Complaint(grid).find("1e+08 points") != std::string::npos);
}

TEST_CASE("names are safe, bounded and different whatever varies") {
  Stream random(3, "names");
  const std::string alphabet = "ab/., '=[]{}~*?$\\:|<>&;\u00e9\u4e2d-_0";
  for (int round = 0; round < 60; ++round) {
    std::set<std::string> texts;
    while (texts.size() < 4) {
      std::string text = "x";
      for (std::uint64_t i = random.Below(200); i > 0; --i) text += alphabet[random.Below(alphabet.size())];
      texts.insert(text);
    }
    std::vector<Trial> trials;
    for (const std::string& text : texts) {
      Trial trial;
      trial.config.data.text = text;
      trial.id = ConfigHash(trial.config);
      trials.push_back(trial);
    }
    NameTrials({"data.text"}, trials);
    std::set<std::string> names;
    for (const Trial& trial : trials) {
      CHECK(trial.name.size() <= kLongestTrialName);
      CHECK(trial.name.find_first_not_of(
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=_.+-") == std::string::npos);
      CHECK(trial.name[0] != '-');
      names.insert(trial.name);
    }
    CHECK(names.size() == 4);
  }
}

TEST_CASE("labels that end the same are told apart") {
  const Sweep sweep = Read("grid: {optim.decay: [0, 1], optim.weight_decay: [0, 1]}\n");
  CHECK(NamesWithoutId(sweep)[0] == "decay=0_weight_decay=0_s1");
}

}  // namespace
}  // namespace dark
