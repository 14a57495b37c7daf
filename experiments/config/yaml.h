#pragma once

#include <string>
#include <vector>

namespace dark {

struct YamlEntry;

/// One value of a YAML text. The subset is strict on purpose: one document, texts as map keys, no duplicate
/// keys, no anchors, aliases, merge keys or tags, nesting of at most 100 levels. What a scalar means (number,
/// text, truth value) is decided by the setting it is given to, never guessed here.
struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  std::string place;               ///< "file:line:column", both from 1; starts every message about this value
  std::string text;                ///< of a scalar, without its quotes
  std::vector<YamlNode> items;     ///< of a list
  std::vector<YamlEntry> entries;  ///< of a map, in the order written

  bool IsNull() const { return kind == Kind::kNull; }
  bool IsScalar() const { return kind == Kind::kScalar; }
  bool IsList() const { return kind == Kind::kList; }
  bool IsMap() const { return kind == Kind::kMap; }
  /// The entry of a map with this key, or nullptr.
  const YamlEntry* Find(const std::string& key) const;
  /// "a list", "a map", "nothing" or the scalar in quotes (shortened): what a message says was found.
  std::string Describe() const;
};

struct YamlEntry {
  std::string key;
  std::string place;  ///< of the key
  YamlNode value;
};

/// Parses `text`; `origin` (a file name) starts every place. Throws Error(kUsage) "origin:line:column: …" for
/// anything outside the subset, for text that is not UTF-8 and for more than 1 MiB. An empty text is null.
YamlNode ParseYaml(const std::string& text, const std::string& origin);
/// Throws Error(kUsage) "place: message"; `place` is file:line:col.
[[noreturn]] void FailAt(const std::string& place, const std::string& message);
/// Reads a file; throws Error(kUsage) with path and errno text when it cannot be read.
YamlNode LoadYaml(const std::string& path);

}  // namespace dark
