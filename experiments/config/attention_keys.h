#pragma once

#include <string>
#include <vector>

#include "core/attention/options.h"

namespace dark {

/// The keys that the variant named in `options` has beside its name, bound to `options`. Throws Error(kUsage)
/// for an unknown variant.
std::vector<Setting> VariantKeys(AttentionOptions& options);

/// `options` turned into another variant: keys that both variants have keep their values, the others start
/// from their defaults.
AttentionOptions SwitchVariant(AttentionOptions options, const std::string& variant);

}  // namespace dark
