#include "core/attention/variants.h"

namespace dark {
namespace {

std::vector<Setting> Keys(AttentionOptions& o) { return FeatureKeys(o); }

template <class T>
AttentionLayer<T> Build(const AttentionContext<T>& c) {
  AttentionLayer<T> layer = PlainInputs(c);
  AttendWithFeatures(c, /*learned=*/true, layer);
  return layer;
}

}  // namespace

VariantInfo LfkVariant() {
  return {"lfk", "learned feature kernel: the projections are free parameters, started at a draw", Keys,
          Build<float>, Build<double>};
}

}  // namespace dark
