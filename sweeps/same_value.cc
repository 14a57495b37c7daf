#include "sweeps/same_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace dark {

std::optional<double> AsNumber(std::string_view text) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool SameValue(const std::string& a, const std::string& b) {
  const std::optional<double> x = AsNumber(a);
  const std::optional<double> y = AsNumber(b);
  return x && y ? *x == *y : a == b;
}

bool SameValue(const YamlNode& a, const YamlNode& b) {
  if (a.kind != b.kind) return false;
  if (a.IsScalar()) return SameValue(a.text, b.text);
  if (a.IsList())
    return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(),
                      [](const YamlNode& x, const YamlNode& y) { return SameValue(x, y); });
  return a.entries.size() == b.entries.size() &&
         std::all_of(a.entries.begin(), a.entries.end(), [&](const YamlEntry& entry) {
           const YamlEntry* other = b.Find(entry.key);
           return other != nullptr && SameValue(entry.value, other->value);
         });
}

}  // namespace dark
