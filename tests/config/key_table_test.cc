#include "experiments/config/key_table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "experiments/config/config_yaml.h"

namespace dark {
namespace {

const ConfigKey& Key(const std::vector<ConfigKey>& keys, const std::string& name) {
  const auto found =
      std::find_if(keys.begin(), keys.end(), [&](const ConfigKey& key) { return key.name == name; });
  REQUIRE(found != keys.end());
  return *found;
}

TEST_CASE("every key is listed once, can be set to its default, and says what it is") {
  std::set<std::string> names;
  for (const ConfigKey& key : ConfigKeys()) {
    CAPTURE(key.name);
    CHECK(names.insert(key.name).second);
    CHECK_FALSE(key.help.empty());
    ConfigBuilder builder;
    if (!key.variants.empty()) builder.Override("attention.variant=" + key.variants.back());
    const std::string before = CanonicalYaml(builder.Resolve());
    builder.Set(key.name, ParseYaml(key.default_value, "default"), "key");
    CHECK(CanonicalYaml(builder.Resolve()) == before);
  }
}

TEST_CASE("the list holds every key of every variant and no other") {
  const std::vector<ConfigKey> keys = ConfigKeys();
  for (const VariantInfo& variant : AttentionVariants()) {
    RunConfig config;
    config.attention.variant = variant.name;
    std::size_t flat_keys = 1;  // data.cache is no part of the flat view
    for (const auto& [name, value] : FlatConfig(config)) {
      CAPTURE(variant.name, name);
      const std::vector<std::string>& has_it = Key(keys, name).variants;
      CHECK((has_it.empty() || std::find(has_it.begin(), has_it.end(), variant.name) != has_it.end()));
      ++flat_keys;
    }
    const auto expected = std::count_if(keys.begin(), keys.end(), [&](const ConfigKey& key) {
      return key.variants.empty() ||
             std::find(key.variants.begin(), key.variants.end(), variant.name) != key.variants.end();
    });
    CHECK(flat_keys == static_cast<std::size_t>(expected));
  }
}

TEST_CASE("rows of the tables") {
  const ConfigKey lr = Key(ConfigKeys(), "optim.lr");
  CHECK(lr.type == ConfigKey::Type::kReal);
  CHECK(lr.default_value == "0.001");
  CHECK(lr.allowed == "0 to 1000");
  CHECK(KeyTableMarkdown().find("| `optim.lr` | real | `0.001` | 0 to 1000 | peak learning rate |\n") !=
        std::string::npos);
  CHECK(KeyTableMarkdown().find(
            "| `attention.m` | integer | `64` | 1 to 65536 | random features per head (performer, "
            "darkformer, lfk) |\n") != std::string::npos);
  CHECK(KeyTableText().find("optim.lr ") != std::string::npos);
}

}  // namespace
}  // namespace dark
