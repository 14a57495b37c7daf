#pragma once

#include <string>
#include <vector>

namespace dark {

/// What a user may know about one config key.
struct ConfigKey {
  enum class Type { kBool, kInteger, kReal, kText, kTextList, kRealMap };

  std::string name;  ///< dotted: "optim.lr"
  Type type = Type::kText;
  std::string default_value;          ///< as CanonicalYaml prints it
  std::string allowed;                ///< "0 to 1", "iid, orthogonal", or "" for anything of the type
  std::string help;                   ///< one line
  std::vector<std::string> variants;  ///< attention variants that have the key; empty = not tied to a variant
};

/// "integer", "list of text", …
const char* Name(ConfigKey::Type type);

/// Every key a run config can have, in declared order, each once, the keys of all variants included.
std::vector<ConfigKey> ConfigKeys();

/// The keys as aligned plain text for a terminal.
std::string KeyTableText();
/// The keys as the Markdown table of the README.
std::string KeyTableMarkdown();

}  // namespace dark
