#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "core/setting.h"

namespace dark {

/// The keys of every attention variant; which of them exist for a variant is said by its registry row alone.
struct AttentionOptions {
  std::string variant = "exact";
  Index m = 64;                                 ///< random features per head
  std::string draws = "orthogonal";             ///< iid | orthogonal
  Index redraw = 0;                             ///< optimiser steps between redraws, 0 = never
  std::string proposal = "isotropic";           ///< isotropic | optimal | sderf: law of Ω
  std::string share = "kv-head";                ///< layer | kv-head: who shares one Ω
  std::string granularity = "kv-head";          ///< layer | kv-head | query-head: who shares one M
  Index rank = 0;                               ///< r, 0 = d
  std::string init = "identity";                ///< identity | whitening
  std::string whitening_scale = "temperature";  ///< unit | temperature (d^-1/4) | small (d^-1/2)
  double shrinkage = 0.0;
  double loading = 1e-4;
  std::string rope = "before-M";  ///< before-M (peer: RoPE first) | after-M
};

template <class T>
struct AttentionContext;
template <class T>
struct AttentionLayer;
template <class T>
using AttentionBuilder = AttentionLayer<T> (*)(const AttentionContext<T>& context);

/// One registry row: a variant, what it is, its keys bound to `options` (nothing else may be set in YAML),
/// and how it is built in both precisions (core/attention/variants.h).
struct VariantInfo {
  std::string name;
  std::string help;
  std::vector<Setting> (*bind)(AttentionOptions& options);
  AttentionBuilder<float> build_float;
  AttentionBuilder<double> build_double;

  template <class T>
  AttentionBuilder<T> builder() const {
    if constexpr (std::is_same_v<T, float>) {
      return build_float;
    } else {
      return build_double;
    }
  }
};

/// Every attention variant, in the order of the documentation. The only list of variants there is.
const std::vector<VariantInfo>& AttentionVariants();

}  // namespace dark
