#include "core/attention/variants.h"

namespace dark {
namespace {

std::vector<Setting> Keys(AttentionOptions& o) { return Join({FeatureKeys(o), DrawKeys(o)}); }

template <class T>
AttentionLayer<T> Build(const AttentionContext<T>& c) {
  AttentionLayer<T> layer = PlainInputs(c);
  AttendWithFeatures(c, /*learned=*/false, layer);
  return layer;
}

}  // namespace

VariantInfo PerformerVariant() {
  return {"performer", "isotropic positive random features (FAVOR+)", Keys, Build<float>, Build<double>};
}

}  // namespace dark
