#include "core/attention/softmax.h"
#include "core/attention/variants.h"

namespace dark {
namespace {

std::vector<Setting> Keys(AttentionOptions&) { return {}; }

template <class T>
AttentionLayer<T> Build(const AttentionContext<T>& c) {
  AttentionLayer<T> layer = PlainInputs(c);
  layer.out = SoftmaxAttention(c.tape, c.name + ".out", layer.shape, layer.q, layer.k, layer.v);
  return layer;
}

}  // namespace

VariantInfo ExactVariant() {
  return {"exact", "softmax attention, the ceiling", Keys, Build<float>, Build<double>};
}

}  // namespace dark
