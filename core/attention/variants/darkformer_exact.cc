#include "core/attention/softmax.h"
#include "core/attention/variants.h"

namespace dark {
namespace {

std::vector<Setting> Keys(AttentionOptions& o) { return GeometryKeys(o); }

template <class T>
AttentionLayer<T> Build(const AttentionContext<T>& c) {
  AttentionLayer<T> layer = GeometryInputs(c);
  layer.out = SoftmaxAttention(c.tape, c.name + ".out", layer.shape, layer.q, layer.k, layer.v);
  return layer;
}

}  // namespace

VariantInfo DarkformerExactVariant() {
  return {"darkformer-exact", "exact attention with the learned kernel: tells kernel from estimator", Keys,
          Build<float>, Build<double>};
}

}  // namespace dark
