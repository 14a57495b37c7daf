#pragma once

#include <string>
#include <vector>

#include "core/attention/variants.h"

namespace dark::testing {

struct Case {
  std::string label;
  AttentionOptions options;
  HeadShape heads;
};

inline HeadShape Heads(Index batch, Index context, Index heads, Index kv_heads, Index dim) {
  return {batch, context, heads, kv_heads, kv_heads, dim, dim};
}

inline bool HasKey(const VariantInfo& info, const std::string& key) {
  AttentionOptions options;
  for (const Setting& setting : info.bind(options)) {
    if (setting.name == key) return true;
  }
  return false;
}

/// Every variant × head layouts × (where it has them) granularities, M before and after RoPE, low rank,
/// shared Ω.
inline std::vector<Case> Cases(Index context) {
  std::vector<Case> cases;
  for (const VariantInfo& info : AttentionVariants()) {
    AttentionOptions base;
    base.variant = info.name;
    base.m = 6;
    const HeadShape grouped = Heads(2, context, 4, 2, 4);
    cases.push_back({info.name + " grouped", base, grouped});
    cases.push_back({info.name + " multi-query", base, Heads(1, context, 4, 1, 4)});
    cases.push_back({info.name + " full", base, Heads(2, context, 2, 2, 4)});
    if (HasKey(info, "share")) {
      base.share = "layer";
      cases.push_back({info.name + " shared draws", base, grouped});
      base.share = "kv-head";
    }
    if (HasKey(info, "proposal")) {
      base.proposal = "sderf";
      cases.push_back({info.name + " with a proposal", base, grouped});
      base.proposal = "isotropic";
    }
    if (!HasKey(info, "granularity")) continue;
    for (const char* granularity : {"layer", "kv-head", "query-head"}) {
      base.granularity = granularity;
      cases.push_back({info.name + " M per " + granularity, base, grouped});
    }
    base.rope = "after-M";
    cases.push_back({info.name + " rope after M", base, grouped});
    base.rope = "before-M";
    base.rank = 2;
    cases.push_back({info.name + " low rank", base, grouped});
  }
  return cases;
}

/// Random features of heads and feature counts around whole registers and tiles.
inline std::vector<Case> WideFeatureCases(Index context) {
  std::vector<Case> cases;
  AttentionOptions options;
  for (const auto& [m, dim] : {std::pair<Index, Index>{40, 20}, {64, 64}, {100, 34}}) {
    options.m = m;
    options.variant = "performer";
    cases.push_back({"performer, m " + std::to_string(m), options, Heads(1, context, 2, 1, dim)});
    options.variant = "lfk";
    cases.push_back({"lfk, m " + std::to_string(m), options, Heads(2, context, 2, 2, dim)});
  }
  return cases;
}

/// Exact attention of heads so wide that its products are split, alone and grouped.
inline std::vector<Case> WideCases(Index context) {
  AttentionOptions exact;
  exact.variant = "exact";
  return {{"exact, heads of 64", exact, Heads(2, context, 4, 2, 64)},
          {"exact, heads of 80", exact, Heads(1, context, 2, 2, 80)}};
}

}  // namespace dark::testing
