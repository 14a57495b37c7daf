#include "experiments/config/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <unordered_set>

#include "core/error.h"
#include "experiments/config/brace_patterns.h"
#include "experiments/config/text.h"

namespace dark {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxDepth = 100;
// YAML readers give up on a key of more than 1024 characters beside its value; ours must print back.
constexpr std::size_t kMaxKeyBytes = 200;

constexpr const char* kAliasAdvice =
    "YAML aliases (*name) are not supported; put quotes around a pattern that starts with *";

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

// Builds the tree from the parser's events rather than from YAML::Node: events still know quotes, tags,
// aliases and duplicate keys, and the depth is checked before the parser descends.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string origin, const BracePatterns& text) : origin_(std::move(origin)), text_(text) {}

  YamlNode Take() { return std::move(root_); }

  std::string Place(const YAML::Mark& mark) const {
    const int line = std::max(mark.line, 0);
    return fmt::format("{}:{}:{}", origin_, line + 1,
                       text_.OriginalColumn(line, std::max(mark.column, 0)) + 1);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) FailAt(Place(mark), "a second document; one per file is expected");
  }
  void OnDocumentEnd() override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { FailAt(Place(mark), kAliasAdvice); }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add(Node(YamlNode::Kind::kNull, mark, "", anchor));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = Node(YamlNode::Kind::kScalar, mark, tag, anchor);
    node.text = value;
    Add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(Node(YamlNode::Kind::kList, mark, tag, anchor));
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(Node(YamlNode::Kind::kMap, mark, tag, anchor));
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Level {
    YamlNode node;
    bool expects_key;  // of a map: whether the next event is a key
    std::unordered_set<std::string> keys;
  };

  YamlNode Node(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
                YAML::anchor_t anchor) const {
    YamlNode node;
    node.kind = kind;
    node.place = Place(mark);
    if (anchor != 0) FailAt(node.place, "YAML anchors (&name) are not supported");
    // "?" is the parser's mark of a plain value, "!" of a quoted one.
    if (!tag.empty() && tag != "?" && tag != "!")
      FailAt(node.place, fmt::format("YAML tags are not supported, found {}", tag));
    return node;
  }

  void Open(YamlNode node) {
    if (open_.size() == kMaxDepth) FailAt(node.place, fmt::format("nested deeper than {} levels", kMaxDepth));
    if (ExpectsKey()) RefuseKey(node);
    const bool is_map = node.IsMap();
    open_.push_back({std::move(node), is_map, {}});
  }

  void Close() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    Add(std::move(node));
  }

  void Add(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (open_.back().node.IsList()) {
      open_.back().node.items.push_back(std::move(node));
    } else if (ExpectsKey()) {
      AddKey(open_.back(), node);
    } else {
      YamlEntry& entry = open_.back().node.entries.back();
      if (node.IsNull()) node.place = entry.place;  // the parser's place of an absent value is the next line
      entry.value = std::move(node);
      open_.back().expects_key = true;
    }
  }

  // The parser also takes what follows an unclosed bracket for a key.
  [[noreturn]] static void RefuseKey(const YamlNode& key) {
    FailAt(key.place, fmt::format("a key must be a text, found {}{}", key.Describe(),
                                  key.IsNull() ? "" : "; is a bracket left open?"));
  }

  static void AddKey(Level& level, const YamlNode& key) {
    if (!key.IsScalar()) RefuseKey(key);
    if (key.text == "<<") FailAt(key.place, "YAML merge keys (<<) are not supported; write the keys out");
    if (key.text.size() > kMaxKeyBytes)
      FailAt(key.place,
             fmt::format("a key of {} bytes; at most {} are allowed", key.text.size(), kMaxKeyBytes));
    if (!level.keys.insert(key.text).second)
      FailAt(key.place, fmt::format("key {} stands twice in this map; first at {}", key.Describe(),
                                    level.node.Find(key.text)->place));
    level.node.entries.push_back({key.text, key.place, {}});
    level.expects_key = false;
  }

  bool ExpectsKey() const { return !open_.empty() && open_.back().node.IsMap() && open_.back().expects_key; }

  std::string origin_;
  const BracePatterns& text_;
  YamlNode root_;
  std::vector<Level> open_;
  int documents_ = 0;
};

void CheckBytes(const std::string& text, const std::string& origin) {
  if (text.size() > kMaxBytes)
    FailAt(origin, fmt::format("more than the {} bytes a config may have", kMaxBytes));
  const auto refused = [](char c) { return IsControl(c) && c != '\t' && c != '\n' && c != '\r'; };
  const std::size_t control =
      static_cast<std::size_t>(std::find_if(text.begin(), text.end(), refused) - text.begin());
  const std::size_t bad = std::min(ValidUtf8Prefix(text), control);
  if (bad == text.size()) return;
  const std::size_t line_begin = text.rfind('\n', bad) + 1;  // npos + 1 is 0
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bad), '\n') + 1;
  FailAt(fmt::format("{}:{}:{}", origin, line, bad - line_begin + 1),
         fmt::format("byte 0x{:02x} is not text in UTF-8", static_cast<unsigned char>(text[bad])));
}

// Name patterns are where people meet YAML's special characters, so say what to do about them.
std::string Advice(const std::string& message) {
  using namespace YAML::ErrorMsg;
  const auto is = [&](const char* kind) { return message.rfind(kind, 0) == 0; };
  if (is(UNKNOWN_ANCHOR) || is(ALIAS_NOT_FOUND) || is(CHAR_IN_ALIAS)) return kAliasAdvice;
  const char* brackets = "; put quotes around a text with brackets, braces or commas inside [ ] or { }";
  const bool in_brackets = is(END_OF_SEQ_FLOW) || is(END_OF_MAP_FLOW) || is(FLOW_END);
  return "not valid YAML: " + message + (in_brackets ? brackets : "");
}

}  // namespace

const YamlEntry* YamlNode::Find(const std::string& key) const {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const YamlEntry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

std::string YamlNode::Describe() const {
  constexpr std::size_t kShown = 40;
  switch (kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
    case Kind::kScalar:
      break;
  }
  std::string shown = text.substr(0, kShown);
  shown.resize(ValidUtf8Prefix(shown));
  std::replace_if(shown.begin(), shown.end(), IsControl, ' ');  // a message is one line
  return fmt::format("'{}{}'", shown, shown.size() < text.size() ? "…" : "");
}

void FailAt(const std::string& place, const std::string& message) { throw Error(place + ": " + message); }

YamlNode ParseYaml(const std::string& text, const std::string& origin) {
  CheckBytes(text, origin);
  const BracePatterns patterns(text);
  std::istringstream stream(patterns.quoted());
  TreeBuilder builder(origin, patterns);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    FailAt(builder.Place(error.mark), Advice(error.msg));
  }
  return builder.Take();
}

YamlNode LoadYaml(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxBytes + 1, '\0');  // one byte more than allowed shows that there is more
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) throw Error(fmt::format("{}: {}", path, std::strerror(errno)));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return ParseYaml(text, path);
}

}  // namespace dark
