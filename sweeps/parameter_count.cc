#include "sweeps/parameter_count.h"

#include <map>
#include <string>

#include "core/model/model.h"

namespace dark {
namespace {

constexpr Index kByteVocab = 256;

}  // namespace

Index VocabOf(const DataOptions& data) { return data.tokenizer == "byte" ? kByteVocab : data.vocab; }

std::string ModelShape(const RunConfig& config) {
  std::string shape = std::to_string(VocabOf(config.data));
  for (const auto& [key, value] : FlatConfig(config))
    if (key.rfind("model.", 0) == 0 || key.rfind("attention.", 0) == 0) shape += ' ' + key + '=' + value;
  return shape;
}

Index ParameterCount(const RunConfig& config) {
  static std::map<std::string, Index> known;
  const auto [entry, is_new] = known.try_emplace(ModelShape(config), 0);
  if (is_new) entry->second = CountParameters(config.model, config.attention, VocabOf(config.data));
  return entry->second;
}

}  // namespace dark
