#pragma once

#include <algorithm>

#include "core/setting.h"

namespace dark {

/// What a product of causal attention may leave out: pairs of a query i and a later key, j > i + offset. With
/// the left operand as it is stored [queries × keys], its pairs are zero and not read; with the result, its
/// pairs are not wanted and may hold anything. Whole tiles are left out, so that some such pairs are computed
/// after all.
struct Causal {
  enum class Of { kNothing, kLeft, kResult };
  Of of = Of::kNothing;
  Index offset = 0;

  /// Columns of the result [.. × n] that queries below `end` meet.
  Index Columns(Index end, Index n) const {
    return of == Of::kResult ? std::clamp<Index>(end + offset, 0, n) : n;
  }
  /// Keys of the left operand [.. × k] that queries below `end` meet.
  Index Keys(Index end, Index k) const { return of == Of::kLeft ? std::clamp<Index>(end + offset, 0, k) : k; }
  /// The first of k queries that meets a key from `key` on, where the left operand is read transposed.
  Index FirstQuery(Index key, Index k) const {
    return of == Of::kLeft ? std::clamp<Index>(key - offset, 0, k) : 0;
  }
};

}  // namespace dark
