#include "core/attention/prefix_mean.h"
#include "core/attention/variants.h"

namespace dark {
namespace {

std::vector<Setting> Keys(AttentionOptions&) { return {}; }

template <class T>
AttentionLayer<T> Build(const AttentionContext<T>& c) {
  AttentionLayer<T> layer = PlainInputs(c);
  layer.uniform = true;
  layer.out = PrefixMean(c.tape, c.name + ".out", layer.shape, layer.v);
  return layer;
}

}  // namespace

VariantInfo UniformVariant() {
  return {"uniform", "mean of the values so far, the floor", Keys, Build<float>, Build<double>};
}

}  // namespace dark
