#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "experiments/config/yaml.h"

namespace dark {

/// The finite number that all of `text` is, in any of the ways a config may write it; else nothing.
std::optional<double> AsNumber(std::string_view text);

/// Whether two texts are one value: equal as numbers where both are finite numbers, else equal as texts.
bool SameValue(const std::string& a, const std::string& b);
/// The same for lists item by item and for maps whatever the order of their keys.
bool SameValue(const YamlNode& a, const YamlNode& b);

}  // namespace dark
