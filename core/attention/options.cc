#include "core/attention/options.h"

namespace dark {
namespace {

void Append(std::vector<Setting>& to, std::vector<Setting> more) {
  for (Setting& setting : more) to.push_back(std::move(setting));
}

std::vector<Setting> NoKeys(AttentionOptions&) { return {}; }

std::vector<Setting> FeatureCount(AttentionOptions& o) {
  return {{"m", &o.m, "random features per head", 1, 65536}};
}

std::vector<Setting> Draws(AttentionOptions& o) {
  return {
      {"draws",
       &o.draws,
       "how the rows of Ω are drawn; orthogonal restores the sign of diag(R)",
       {"iid", "orthogonal"}},
      {"share", &o.share, "heads that share one Ω", {"layer", "kv-head"}},
  };
}

std::vector<Setting> Redraw(AttentionOptions& o) {
  return {
      {"redraw", &o.redraw, "optimiser steps between redraws of Ω, 0 = never; never in evaluation", 0, 1e12}};
}

std::vector<Setting> Geometry(AttentionOptions& o) {
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

std::vector<Setting> LearnedFeatures(AttentionOptions& o) {
  std::vector<Setting> keys = FeatureCount(o);
  Append(keys, Draws(o));
  return keys;
}

std::vector<Setting> Performer(AttentionOptions& o) {
  std::vector<Setting> keys = LearnedFeatures(o);
  Append(keys, Redraw(o));
  return keys;
}

std::vector<Setting> Darkformer(AttentionOptions& o) {
  std::vector<Setting> keys = Performer(o);
  Append(keys, Geometry(o));
  return keys;
}

}  // namespace

const std::vector<VariantInfo>& AttentionVariants() {
  static const std::vector<VariantInfo> variants = {
      {"exact", "softmax attention, the ceiling", NoKeys},
      {"performer", "isotropic positive random features (FAVOR+)", Performer},
      {"darkformer", "positive random features of the learned kernel exp(q'Σk), Σ = M'M", Darkformer},
      {"darkformer-exact", "exact attention with the learned kernel: tells kernel from estimator", Geometry},
      {"lfk", "learned feature kernel: the projections are free parameters, started at a draw",
       LearnedFeatures},
      {"uniform", "mean of the values so far, the floor", NoKeys},
  };
  return variants;
}

}  // namespace dark
