#pragma once

#include <string>

#include "core/setting.h"
#include "experiments/config/yaml.h"

namespace dark {

/// Gives `value` to the target of `setting`; `key` is its dotted name for messages. Throws Error(kUsage)
/// "place: key: expected …, found …" unless the value has the setting's type and lies in its range.
void AssignValue(const Setting& setting, const std::string& key, const YamlNode& value);

/// The values a setting allows within its type: "0 to 1", "iid, orthogonal", or "" for all.
std::string Allowed(const Setting& setting);

/// The present value as one line of YAML that AssignValue reads back to the same value: numbers by shortest
/// round trip, free texts in double quotes, lists and maps in flow form.
std::string YamlValue(const Setting& setting);
/// The same without quotes around a text.
std::string FlatValue(const Setting& setting);

}  // namespace dark
