#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "experiments/config/config_yaml.h"
#include "tests/config/random_config.h"

namespace dark {
namespace {

std::string Hash(const std::string& yaml) { return ConfigHash(ParseRunConfig(yaml, "f")); }

TEST_CASE("parsing the canonical YAML of any config gives the config back") {
  Stream stream(2, "canonical");
  for (int i = 0; i < 200; ++i) {
    const RunConfig config = RandomConfig(stream);
    const std::string yaml = CanonicalYaml(config);
    CAPTURE(yaml);
    const RunConfig parsed = ParseRunConfig(yaml, "canonical");
    REQUIRE(SameSettings(config, parsed));
    REQUIRE(CanonicalYaml(parsed) == yaml);
    REQUIRE(ConfigHash(parsed) == ConfigHash(config));
  }
}

TEST_CASE("spelling, order, sections and comments do not change the trial") {
  const std::string hash =
      Hash("seed: 3\noptim: {lr: 1e-4, beta1: 0.8}\nattention: {variant: performer, m: 32}");
  CHECK(hash.size() == 16);
  CHECK(Hash("# note\nattention:\n  m: 32.0   # features\n  variant: performer\nseed: 3\noptim:\n  beta1: "
             ".8\n  lr: 0.0001") == hash);
  CHECK(Hash("optim.beta1: 8e-1\noptim.lr: 1.0E-04\nattention.m: 3.2e1\nattention.variant: performer\nseed: "
             "'3'") == hash);
  CHECK(Hash("seed: 4\noptim: {lr: 1e-4, beta1: 0.8}\nattention: {variant: performer, m: 32}") != hash);
}

TEST_CASE("a derived value and the same value written out are the same trial") {
  CHECK(Hash("model: {width: 64, heads: 4, kv_heads: 4, head_dim: 16, ff: 176}") == Hash(""));
  CHECK(Hash("optim: {weight_decay: -0.0}") == Hash("optim: {weight_decay: 0}"));
}

TEST_CASE("neighbouring doubles and every changed setting are other trials, a cache folder is not") {
  CHECK(Hash("optim: {lr: 0.3}") != Hash("optim: {lr: 0.30000000000000004}"));
  CHECK(Hash("data: {cache: /somewhere}") == Hash(""));
  CHECK(Hash("data: {text: a}") != Hash("data: {text: b}"));
  Stream stream(3, "hash");
  std::set<std::string> hashes;
  for (int i = 0; i < 500; ++i) hashes.insert(ConfigHash(RandomConfig(stream)));
  CHECK(hashes.size() == 500);
}

TEST_CASE("the flat view names every key of the variant in declared order") {
  const auto flat =
      FlatConfig(ParseRunConfig("data: {text: 'a b', cache: c}\nattention: {variant: performer}", "f"));
  const auto at = [&](const std::string& key) {
    return std::find_if(flat.begin(), flat.end(), [&](const auto& entry) { return entry.first == key; });
  };
  CHECK(flat.front() == std::pair<std::string, std::string>("seed", "1"));
  CHECK(at("data.text")->second == "a b");
  CHECK(at("optim.lr")->second == "0.001");
  CHECK(at("optim.no_decay")->second == "[\"*norm\", \"M\"]");
  CHECK(at("attention.m")->second == "64");
  CHECK(at("attention.m") < at("optim.lr"));
  CHECK(at("attention.rank") == flat.end());
  CHECK(at("data.cache") == flat.end());
}

TEST_CASE("keys applied one by one in any order give the config of the whole map") {
  Stream stream(4, "order");
  for (int i = 0; i < 100; ++i) {
    const RunConfig config = RandomConfig(stream);
    const YamlNode map = ParseYaml(CanonicalYaml(config), "f");
    std::vector<YamlEntry> leaves;
    for (const YamlEntry& section : map.entries) {
      if (!section.value.IsMap()) leaves.push_back(section);
      for (const YamlEntry& leaf : section.value.entries)
        leaves.push_back({section.key + "." + leaf.key, leaf.place, leaf.value});
    }
    for (std::size_t j = leaves.size(); j > 1; --j) std::swap(leaves[j - 1], leaves[stream.Below(j)]);
    YamlNode shuffled = map;
    shuffled.entries = leaves;
    ConfigBuilder builder;
    builder.Apply(shuffled);
    REQUIRE(SameSettings(builder.Resolve(), config));
  }
}

}  // namespace
}  // namespace dark
