#include "experiments/config/key_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/config/run_config.h"
#include "experiments/config/setting_value.h"
#include "experiments/config/text.h"

namespace dark {
namespace {

ConfigKey::Type TypeOf(const Setting& setting) {
  struct {
    using Type = ConfigKey::Type;
    Type operator()(const bool*) const { return Type::kBool; }
    Type operator()(const Index*) const { return Type::kInteger; }
    Type operator()(const double*) const { return Type::kReal; }
    Type operator()(const std::string*) const { return Type::kText; }
    Type operator()(const std::vector<std::string>*) const { return Type::kTextList; }
    Type operator()(const std::map<std::string, double>*) const { return Type::kRealMap; }
  } of;
  return std::visit(of, setting.target);
}

ConfigKey Describe(const std::string& section, const Setting& setting) {
  ConfigKey key;
  key.name = section.empty() ? setting.name : section + "." + setting.name;
  key.type = TypeOf(setting);
  key.default_value = YamlValue(setting);
  key.allowed = Allowed(setting);
  key.help = setting.help;
  return key;
}

// The keys of all variants, each once, in the order the variants name them.
void AppendVariantKeys(std::vector<ConfigKey>& keys) {
  const auto first = static_cast<std::ptrdiff_t>(keys.size());
  AttentionOptions defaults;
  for (const VariantInfo& variant : AttentionVariants())
    for (const Setting& setting : variant.bind(defaults)) {
      const ConfigKey described = Describe("attention", setting);
      auto key = std::find_if(keys.begin() + first, keys.end(),
                              [&](const ConfigKey& known) { return known.name == described.name; });
      if (key == keys.end()) key = keys.insert(key, described);
      key->variants.push_back(variant.name);
    }
}

std::string HelpWithVariants(const ConfigKey& key) {
  return key.variants.empty() ? key.help : fmt::format("{} ({})", key.help, Join(key.variants));
}

// A cell of a Markdown table: what would end the cell or start emphasis is escaped.
std::string Cell(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|' || c == '*') cell += '\\';
    cell += c;
  }
  return cell;
}

}  // namespace

const char* Name(ConfigKey::Type type) {
  switch (type) {
    case ConfigKey::Type::kBool:
      return "true or false";
    case ConfigKey::Type::kInteger:
      return "integer";
    case ConfigKey::Type::kReal:
      return "real";
    case ConfigKey::Type::kText:
      return "text";
    case ConfigKey::Type::kTextList:
      return "list of texts";
    case ConfigKey::Type::kRealMap:
      return "map text: real";
  }
  return "";
}

std::vector<ConfigKey> ConfigKeys() {
  std::vector<ConfigKey> keys;
  RunConfig defaults;
  for (const Section& section : Bind(defaults)) {
    const bool attention = section.name == "attention";
    for (const Setting& setting : section.settings)
      if (!attention || setting.name == "variant") keys.push_back(Describe(section.name, setting));
    if (attention) AppendVariantKeys(keys);
  }
  return keys;
}

std::string KeyTableText() {
  const std::vector<ConfigKey> keys = ConfigKeys();
  std::size_t width = 0;
  for (const ConfigKey& key : keys) width = std::max(width, key.name.size());
  std::string table;
  for (const ConfigKey& key : keys) {
    table += fmt::format("{:<{}}  {}, default {}", key.name, width, Name(key.type), key.default_value);
    if (!key.allowed.empty()) table += fmt::format(", allowed: {}", key.allowed);
    table += fmt::format("\n    {}\n", HelpWithVariants(key));
  }
  return table;
}

std::string KeyTableMarkdown() {
  std::string table = "| Key | Type | Default | Allowed | Meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const ConfigKey& key : ConfigKeys())
    table += fmt::format("| `{}` | {} | `{}` | {} | {} |\n", key.name, Name(key.type), key.default_value,
                         Cell(key.allowed), Cell(HelpWithVariants(key)));
  return table;
}

}  // namespace dark
