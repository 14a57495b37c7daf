#include "tests/config/random_config.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "experiments/config/resolve.h"

namespace dark {
namespace {

// Draws a value that the setting allows; free texts, lists and maps hold anything.
struct Draw {
  Stream& stream;
  const Setting& setting;

  void operator()(bool* target) const { *target = stream.Below(2) == 1; }
  void operator()(Index* target) const {
    const auto span = static_cast<std::uint64_t>(std::min(setting.max - setting.min, 1e12)) + 1;
    *target = static_cast<Index>(setting.min) + static_cast<Index>(stream.Below(span) >> stream.Below(40));
  }
  void operator()(double* target) const { *target = InRange(); }
  void operator()(std::string* target) const {
    const auto& choices = setting.choices;
    *target = choices.empty() ? RandomText(stream) : choices[stream.Below(choices.size())];
  }
  void operator()(std::vector<std::string>* target) const {
    target->resize(1 + stream.Below(3));
    for (std::string& text : *target) text = RandomText(stream);
  }
  void operator()(std::map<std::string, double>* target) const {
    target->clear();
    for (std::uint64_t i = stream.Below(3); i > 0; --i) (*target)["k" + RandomText(stream)] = InRange();
  }

  // Half of the values lie within many powers of ten above the lowest, the others anywhere.
  double InRange() const {
    const double share = std::pow(stream.Uniform(), stream.Below(2) == 0 ? 1 : 40);
    return std::min(setting.max, setting.min + (setting.max - setting.min) * share);
  }
};

// Random shapes seldom fit together, so shape and schedule are drawn as a whole.
void DrawShapes(RunConfig& config, Stream& stream) {
  ModelOptions& model = config.model;
  model.kv_heads = 1 + static_cast<Index>(stream.Below(8));
  model.heads = model.kv_heads * (1 + static_cast<Index>(stream.Below(4)));
  model.head_dim = 2 * (1 + static_cast<Index>(stream.Below(64)));
  config.attention.rank = stream.Below(2) == 0 ? 0 : model.head_dim;
  OptimOptions& optim = config.optim;
  optim.warmup = static_cast<Index>(stream.Below(static_cast<std::uint64_t>(config.train.steps)));
  optim.decay =
      static_cast<Index>(stream.Below(static_cast<std::uint64_t>(config.train.steps - optim.warmup)));
}

}  // namespace

std::string RandomText(Stream& stream) {
  static const std::vector<std::string> pieces = {"a",
                                                  "Z",
                                                  "9",
                                                  ".",
                                                  "-",
                                                  "_",
                                                  "/",
                                                  " ",
                                                  "  ",
                                                  ": ",
                                                  ":",
                                                  "#",
                                                  " #",
                                                  "\"",
                                                  "'",
                                                  "\\",
                                                  "{",
                                                  "}",
                                                  "[",
                                                  "]",
                                                  ",",
                                                  "&",
                                                  "*",
                                                  "!",
                                                  "|",
                                                  ">",
                                                  "%",
                                                  "@",
                                                  "`",
                                                  "?",
                                                  "~",
                                                  "null",
                                                  "true",
                                                  "1e3",
                                                  "\n",
                                                  "\r",
                                                  "\t",
                                                  "\x01",
                                                  "\x7f",
                                                  "\x04",
                                                  "é",
                                                  "Ω",
                                                  "—",
                                                  "日",
                                                  "\xc2\x85",
                                                  "\xe2\x80\xa8",
                                                  "\xef\xbb\xbf",
                                                  "\xf0\x9f\x98\x80",
                                                  "---",
                                                  std::string(1, '\0')};
  std::string text;
  for (std::uint64_t i = stream.Below(12); i > 0; --i) text += pieces[stream.Below(pieces.size())];
  return text;
}

double RandomReal(Stream& stream) {
  double value = std::bit_cast<double>(stream.Bits64());
  while (!std::isfinite(value)) value = std::bit_cast<double>(stream.Bits64());
  return value;
}

RunConfig RandomConfig(Stream& stream) {
  RunConfig config;
  const auto& variants = AttentionVariants();
  config.attention.variant = variants[stream.Below(variants.size())].name;
  for (const Section& section : Bind(config))
    for (const Setting& setting : section.settings)
      if (setting.name != "variant") std::visit(Draw{stream, setting}, setting.target);
  DrawShapes(config, stream);
  const std::vector<Problem> problems = Resolve(config);
  if (!problems.empty()) throw std::logic_error(problems.front().key + ": " + problems.front().message);
  return config;
}

bool SameSettings(RunConfig a, RunConfig b) {
  if (a.attention.variant != b.attention.variant) return false;
  const std::vector<Section> left = Bind(a);
  const std::vector<Section> right = Bind(b);
  for (std::size_t s = 0; s < left.size(); ++s)
    for (std::size_t i = 0; i < left[s].settings.size(); ++i) {
      const Setting::Target other = right[s].settings[i].target;
      const bool same = std::visit([&](auto* value) { return *value == *std::get<decltype(value)>(other); },
                                   left[s].settings[i].target);
      if (!same) return false;
    }
  return true;
}

}  // namespace dark
