#include "experiments/config/yaml.h"

#include <catch2/catch.hpp>

#include "tests/config/messages.h"
#include "tests/temporary_folder.h"

namespace dark {
namespace {

std::string Repeat(const std::string& piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

std::string ParseMessage(const std::string& yaml) {
  return MessageOf([&] { ParseYaml(yaml, "f"); });
}

TEST_CASE("a tree knows kinds, texts, order and places") {
  const YamlNode root =
      ParseYaml("# comment\nb: 1e-4\na: [x, 'null', \"\", ~]\nc:\n  d: {e: '*'}\n  f:\n", "f.yaml");
  REQUIRE(root.IsMap());
  REQUIRE(root.entries.size() == 3);
  CHECK(root.entries[0].key == "b");
  CHECK(root.entries[0].place == "f.yaml:2:1");
  CHECK(root.entries[0].value.place == "f.yaml:2:4");
  CHECK(root.entries[0].value.text == "1e-4");
  const YamlNode& list = root.Find("a")->value;
  REQUIRE(list.IsList());
  REQUIRE(list.items.size() == 4);
  CHECK(list.items[0].place == "f.yaml:3:5");
  CHECK(list.items[1].text == "null");
  CHECK(list.items[2].IsScalar());
  CHECK(list.items[3].IsNull());
  const YamlNode& map = root.Find("c")->value;
  CHECK(map.Find("d")->value.Find("e")->value.text == "*");
  CHECK(map.Find("f")->value.IsNull());
  CHECK(map.Find("f")->value.place == "f.yaml:6:3");
  CHECK(map.Find("g") == nullptr);
  CHECK(ParseYaml("", "f").IsNull());
  CHECK(ParseYaml("# nothing\n", "f").IsNull());
}

TEST_CASE("YAML outside the strict subset is refused at its place") {
  CHECK(ParseMessage("a: 1\n<<: {b: 2}") ==
        "f:2:1: YAML merge keys (<<) are not supported; write the keys out");
  CHECK(ParseMessage("a: 1\nb: 2\na: 3") == "f:3:1: key 'a' stands twice in this map; first at f:1:1");
  CHECK(ParseMessage("a: &x 1") == "f:1:4: YAML anchors (&name) are not supported");
  const std::string alias =
      "YAML aliases (*name) are not supported; put quotes around a pattern that starts with *";
  CHECK(ParseMessage("a: [*norm, M]") == "f:1:5: " + alias);
  CHECK(ParseMessage("a: &x [*x]") == "f:1:4: YAML anchors (&name) are not supported");
  CHECK(ParseMessage("- a\n- *") == "f:2:4: " + alias);
  CHECK(ParseMessage("a: !!int 3") == "f:1:4: YAML tags are not supported, found tag:yaml.org,2002:int");
  CHECK(ParseMessage("a: 1\n---\nb: 2") == "f:2:1: a second document; one per file is expected");
  CHECK(ParseMessage("[a, b]: 1") == "f:1:1: a key must be a text, found a list; is a bracket left open?");
  CHECK(ParseMessage("~: 1") == "f:1:1: a key must be a text, found nothing");
  CHECK(ParseMessage("a: [attn.{q;k}]\n") ==
        "f:1:10: not valid YAML: end of sequence flow not found; put quotes around a text with brackets, "
        "braces or "
        "commas inside [ ] or { }");
  CHECK(ParseMessage("a:\n\t b: [").find("not valid YAML") != std::string::npos);
}

TEST_CASE("bytes that are not text are refused at their place") {
  const auto refused = [](const std::string& bytes) {
    return ParseMessage("a: 1\nb: " + bytes).find("f:2:4: byte 0x") == 0;
  };
  CHECK(refused("\xff"));
  CHECK(refused("\xc3"));                // cut off
  CHECK(refused("\xc0\xaf"));            // overlong
  CHECK(refused("\xed\xa0\x80"));        // surrogate
  CHECK(refused("\xf4\x90\x80\x80"));    // beyond U+10FFFF
  CHECK(refused("\x04"));                // ends a text silently in yaml-cpp
  CHECK(refused(std::string(1, '\0')));  // so does UTF-16
  CHECK_FALSE(refused("é \xf0\x9f\x98\x80"));
}

TEST_CASE("deep nesting and oversized texts are errors, not crashes") {
  for (const char* piece :
       {"[", "{a: ", "- ", "? ", "[\n", "- - ", "{", "a: [", "!", "&a ", "|", "\"", "- {"}) {
    CAPTURE(piece);
    CHECK(ParseMessage(Repeat(piece, 100000)).rfind("f", 0) == 0);
  }
  std::string stairs;
  for (int i = 0; i < 1000; ++i) stairs += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  CHECK(ParseMessage(stairs) == "f:101:101: nested deeper than 100 levels");
  CHECK(ParseMessage(Repeat("[", 101) + "\n") != "no error");
  CHECK(ParseMessage(Repeat("- ", 99) + "a") == "no error");
  CHECK(ParseMessage(Repeat("- ", 101) + "a") == "f:1:201: nested deeper than 100 levels");
  CHECK(ParseMessage(std::string((1 << 20) + 1, 'a')) == "f: more than the 1048576 bytes a config may have");
  CHECK(ParseMessage(std::string(300, 'k') + ": 1") == "f:1:1: a key of 300 bytes; at most 200 are allowed");
}

TEST_CASE("files that cannot be read name path and cause") {
  const auto load = [](const std::string& path) { return MessageOf([&] { LoadYaml(path); }); };
  CHECK(load("/nonexistent/x.yaml") == "/nonexistent/x.yaml: No such file or directory");
  CHECK(load("/") == "/: Is a directory");
  const TemporaryFolder folder;
  const std::string path = folder.Write("x.yaml", "a: 1\r\nb: [2, 3]\r\n");
  CHECK(LoadYaml(path).Find("b")->value.items[1].text == "3");
  folder.Write("x.yaml", std::string(2 << 20, '#'));
  CHECK(load(path) == path + ": more than the 1048576 bytes a config may have");
}

}  // namespace
}  // namespace dark
