#include "experiments/config/attention_keys.h"

#include <fmt/format.h>

#include "core/error.h"

namespace dark {

std::vector<Setting> VariantKeys(AttentionOptions& options) {
  for (const VariantInfo& variant : AttentionVariants())
    if (variant.name == options.variant) return variant.bind(options);
  throw Error(fmt::format("unknown attention variant '{}'", options.variant));
}

AttentionOptions SwitchVariant(AttentionOptions options, const std::string& variant) {
  AttentionOptions switched;
  switched.variant = variant;
  for (const Setting& to : VariantKeys(switched))
    for (const Setting& from : VariantKeys(options))
      if (from.name == to.name)
        std::visit([&](auto* target) { *target = *std::get<decltype(target)>(from.target); }, to.target);
  return switched;
}

}  // namespace dark
