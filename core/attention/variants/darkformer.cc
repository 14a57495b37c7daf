#include "core/attention/variants.h"

namespace dark {
namespace {

std::vector<Setting> Keys(AttentionOptions& o) {
  return Join({FeatureKeys(o), DrawKeys(o), GeometryKeys(o)});
}

template <class T>
AttentionLayer<T> Build(const AttentionContext<T>& c) {
  AttentionLayer<T> layer = GeometryInputs(c);
  AttendWithFeatures(c, /*learned=*/false, layer);
  return layer;
}

}  // namespace

VariantInfo DarkformerVariant() {
  return {"darkformer", "positive random features of the learned kernel exp(q'Σk), Σ = M'M", Keys,
          Build<float>, Build<double>};
}

}  // namespace dark
