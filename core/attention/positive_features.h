#pragma once

#include <memory>

#include "core/attention/base_draws.h"
#include "core/attention/feature_map.h"
#include "core/attention/options.h"
#include "core/tape/parameters.h"

namespace dark {

/// Positive random features φ_j(x) = m^-1/2 exp(w_j·x − ½‖x‖²) (paper Eq. (3) on kernel inputs; FAVOR+). With
/// w_j ~ N(0, I), E φ(q)·φ(k) = exp(q·k). `learned` makes the projections a parameter `<name>.W`, started at
/// the same draw. Each key head has Ω of its own, or the layer one, by `options.share`.
template <class T>
std::shared_ptr<FeatureMap<T>> PositiveFeatures(Parameters<T>& parameters, const std::string& name,
                                                const AttentionOptions& options, Index dim, Index key_heads,
                                                bool learned);

}  // namespace dark
