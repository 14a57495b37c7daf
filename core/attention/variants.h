#pragma once

#include "core/attention/layer.h"
#include "core/attention/options.h"

namespace dark {

// One file a variant (core/attention/variants/*.cc): its keys and how it is composed from the parts in
// core/attention. AttentionVariants() lists these rows; nothing else has to change for a new variant.
VariantInfo ExactVariant();
VariantInfo PerformerVariant();
VariantInfo DarkformerVariant();
VariantInfo DarkformerExactVariant();
VariantInfo LfkVariant();
VariantInfo UniformVariant();

/// Key groups that several variants share.
std::vector<Setting> FeatureKeys(AttentionOptions& options);   ///< m, draws, share
std::vector<Setting> DrawKeys(AttentionOptions& options);      ///< redraw, proposal
std::vector<Setting> GeometryKeys(AttentionOptions& options);  ///< granularity, rank, init, …
std::vector<Setting> Join(std::vector<std::vector<Setting>> groups);

/// Builds the variant that `context.options` names. Throws Error for an unknown name.
template <class T>
AttentionLayer<T> BuildAttention(const AttentionContext<T>& context);

}  // namespace dark
