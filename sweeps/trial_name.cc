#include "sweeps/trial_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace dark {
namespace {

using Values = std::map<std::string, std::string>;

/// Letters, digits, '.', '+', '_' and single '-' only: safe in any shell, file system and URL.
std::string Safe(const std::string& text) {
  std::string safe;
  for (const unsigned char c : text) {
    if ((c < 128 && std::isalnum(c) != 0) || c == '.' || c == '+' || c == '_')
      safe += static_cast<char>(c);
    else if (!safe.empty() && safe.back() != '-')
      safe += '-';
  }
  while (!safe.empty() && safe.back() == '-') safe.pop_back();
  // A learning rate may well be 1e-05, and a value may start with a minus, which must not be lost.
  if (!text.empty() && text[0] == '-') safe.insert(0, 1, '-');
  return safe.empty() ? "none" : safe;
}

bool Varies(const std::string& key, const std::vector<Values>& trials) {
  std::set<std::string> seen;
  for (const Values& values : trials) {
    const auto found = values.find(key);
    if (found != values.end()) seen.insert(found->second);
  }
  return seen.size() > 1;
}

/// The last part of a dotted key where no other key of the name ends the same; "attention" for its variant.
std::string Label(const std::string& key, const std::vector<std::string>& keys) {
  if (key == "attention.variant") return "attention";
  const auto last = [](const std::string& dotted) { return dotted.substr(dotted.rfind('.') + 1); };
  const auto same = std::count_if(keys.begin(), keys.end(),
                                  [&](const std::string& other) { return last(other) == last(key); });
  return same > 1 ? key : last(key);
}

}  // namespace

void NameTrials(const std::vector<std::string>& keys, std::vector<Trial>& trials) {
  std::vector<Values> values;
  for (const Trial& trial : trials) {
    values.emplace_back();
    for (const auto& [key, value] : FlatConfig(trial.config)) values.back()[key] = value;
  }
  std::vector<std::string> named;
  for (const std::string& key : keys)
    if (key != "seed" && Varies(key, values)) named.push_back(key);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    std::string readable;
    for (const std::string& key : named) {
      const auto found = values[i].find(key);
      if (found == values[i].end()) continue;
      readable += Safe(Label(key, named)) + "=" + Safe(found->second) + "_";
    }
    const std::string ending = fmt::format("s{}-{}", trials[i].config.seed, trials[i].id.substr(0, 8));
    trials[i].name = readable.substr(0, kLongestTrialName - ending.size()) + ending;
  }
}

}  // namespace dark
