#include "core/attention/variants.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace dark {

std::vector<Setting> FeatureKeys(AttentionOptions& o) {
  return {
      {"m", &o.m, "random features per head", 1, 65536},
      {"draws",
       &o.draws,
       "how the rows of Ω are drawn; orthogonal restores the sign of diag(R)",
       {"iid", "orthogonal"}},
      {"share", &o.share, "heads that share one Ω", {"layer", "kv-head"}},
  };
}

std::vector<Setting> DrawKeys(AttentionOptions& o) {
  return {
      {"redraw", &o.redraw, "optimiser steps between redraws of Ω, 0 = never; never in evaluation", 0, 1e12},
      {"proposal",
       &o.proposal,
       "law of the rows of Ω, weighted so that the kernel stays: N(0, I), or from the covariance of one "
       "calibration "
       "batch by Theorem 3.2 or as in SDERF",
       {"isotropic", "optimal", "sderf"}},
  };
}

std::vector<Setting> GeometryKeys(AttentionOptions& o) {
  return {
      {"granularity", &o.granularity, "heads that share one M", {"layer", "kv-head", "query-head"}},
      {"rank", &o.rank, "rows r of M, 0 = head size d", 0, 65536},
      {"init", &o.init, "M at step 0; whitening reads one calibration batch", {"identity", "whitening"}},
      {"whitening_scale",
       &o.whitening_scale,
       "s in M = s Λ^-1/2: unit 1, temperature d^-1/4, small d^-1/2",
       {"unit", "temperature", "small"}},
      {"shrinkage", &o.shrinkage, "share of the mean variance mixed into Λ before whitening", 0, 1},
      {"loading", &o.loading, "relative diagonal loading of Λ before whitening", 0, 1},
      {"rope", &o.rope, "whether the rotary embedding comes before or after M", {"before-M", "after-M"}},
  };
}

std::vector<Setting> Join(std::vector<std::vector<Setting>> groups) {
  std::vector<Setting> all;
  for (std::vector<Setting>& group : groups) std::move(group.begin(), group.end(), std::back_inserter(all));
  return all;
}

const std::vector<VariantInfo>& AttentionVariants() {
  static const std::vector<VariantInfo> variants = {ExactVariant(),      PerformerVariant(),
                                                    DarkformerVariant(), DarkformerExactVariant(),
                                                    LfkVariant(),        UniformVariant()};
  return variants;
}

template <class T>
AttentionLayer<T> BuildAttention(const AttentionContext<T>& context) {
  const std::vector<VariantInfo>& all = AttentionVariants();
  const auto row = std::find_if(
      all.begin(), all.end(), [&](const VariantInfo& info) { return info.name == context.options.variant; });
  if (row == all.end()) throw Error(fmt::format("unknown attention variant '{}'", context.options.variant));
  return row->template builder<T>()(context);
}
template AttentionLayer<float> BuildAttention(const AttentionContext<float>&);
template AttentionLayer<double> BuildAttention(const AttentionContext<double>&);

}  // namespace dark
