#include "experiments/config/setting_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "experiments/config/numbers.h"
#include "experiments/config/text.h"

namespace dark {
namespace {

using TextList = std::vector<std::string>;
using RealMap = std::map<std::string, double>;

// What a value of a setting looks like, for messages; `allowed` restricts its type, or is empty.
struct Expectation {
  std::string allowed;

  std::string operator()(const bool*) const { return "true or false"; }
  std::string operator()(const Index*) const { return "a whole number" + From(); }
  std::string operator()(const double*) const { return "a number" + From(); }
  std::string operator()(const std::string*) const {
    return allowed.empty() ? "a text" : "one of " + allowed;
  }
  std::string operator()(const TextList*) const { return "a list of texts such as [a, b]"; }
  std::string operator()(const RealMap*) const {
    return "a map from texts to numbers" + From() + " such as {a: 0.5}";
  }

  std::string From() const { return allowed.empty() ? "" : " from " + allowed; }
};

// Reads one value into the type of a setting's target; `Reject` says what was expected instead.
class Reader {
 public:
  Reader(const Setting& setting, const std::string& key, const YamlNode& value)
      : setting_(setting), key_(key), value_(value) {}

  void operator()(bool* target) const {
    const std::string& text = Scalar(value_);
    if (text != "true" && text != "false") Reject(value_);
    *target = text == "true";
  }
  void operator()(Index* target) const {
    const std::optional<std::int64_t> number = ParseInteger(Scalar(value_));
    if (!number || !InRange(static_cast<double>(*number))) Reject(value_);
    *target = *number;
  }
  void operator()(double* target) const { *target = Real(value_); }
  void operator()(std::string* target) const {
    const std::string& text = Text(value_);
    const TextList& choices = setting_.choices;
    if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end()) Reject(value_);
    *target = text;
  }
  void operator()(TextList* target) const {
    if (!value_.IsList()) Reject(value_);
    TextList texts;
    for (const YamlNode& item : value_.items) texts.push_back(Text(item));
    *target = std::move(texts);
  }
  void operator()(RealMap* target) const {
    if (!value_.IsMap()) Reject(value_);
    RealMap numbers;
    for (const YamlEntry& entry : value_.entries) numbers[entry.key] = Real(entry.value);
    *target = std::move(numbers);
  }

 private:
  const std::string& Scalar(const YamlNode& node) const {
    if (!node.IsScalar()) Reject(node);
    return node.text;
  }
  const std::string& Text(const YamlNode& node) const {
    const std::string& text = Scalar(node);
    if (ValidUtf8Prefix(text) != text.size())
      throw Error(fmt::format("{}: {}: the text is not UTF-8", node.place, key_));
    return text;
  }
  // The sum turns -0 into 0: both train alike, so they must print and hash alike.
  double Real(const YamlNode& node) const {
    const std::optional<double> number = ParseReal(Scalar(node));
    if (!number || !InRange(*number)) Reject(node);
    return *number + 0.0;
  }
  bool InRange(double number) const { return number >= setting_.min && number <= setting_.max; }

  [[noreturn]] void Reject(const YamlNode& found) const {
    const std::string nearest = found.IsScalar() ? NearestName(found.text, setting_.choices) : "";
    throw Error(fmt::format("{}: {}: expected {}, found {}{}", found.place, key_,
                            std::visit(Expectation{Allowed(setting_)}, setting_.target), found.Describe(),
                            nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
  }

  const Setting& setting_;
  const std::string& key_;
  const YamlNode& value_;
};

// Double-quoted YAML. Characters beyond ASCII stand for themselves.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      quoted += fmt::format("\\x{:02x}", byte);
    else if (c == '"' || c == '\\')
      quoted += {'\\', c};
    else
      quoted += c;
  }
  return quoted + '"';
}

std::string Print(bool value) { return value ? "true" : "false"; }
std::string Print(Index value) { return fmt::format("{}", value); }
std::string Print(double value) { return RealText(value); }
std::string Print(const std::string& value) { return value; }
std::string Print(const TextList& value) {
  TextList items;
  for (const std::string& item : value) items.push_back(Quoted(item));
  return fmt::format("[{}]", Join(items));
}
std::string Print(const RealMap& value) {
  TextList items;
  for (const auto& [name, number] : value) items.push_back(Quoted(name) + ": " + RealText(number));
  return fmt::format("{{{}}}", Join(items));
}

}  // namespace

void AssignValue(const Setting& setting, const std::string& key, const YamlNode& value) {
  std::visit(Reader(setting, key, value), setting.target);
}

std::string Allowed(const Setting& setting) {
  if (!setting.choices.empty()) return Join(setting.choices);
  const bool any = std::isinf(setting.min) && std::isinf(setting.max);
  return any ? "" : RealText(setting.min) + " to " + RealText(setting.max);
}

std::string FlatValue(const Setting& setting) {
  return std::visit([](const auto* value) { return Print(*value); }, setting.target);
}

std::string YamlValue(const Setting& setting) {
  const bool free_text = std::holds_alternative<std::string*>(setting.target) && setting.choices.empty();
  return free_text ? Quoted(FlatValue(setting)) : FlatValue(setting);
}

}  // namespace dark
