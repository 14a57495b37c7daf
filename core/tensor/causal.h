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

  struct Range {
    Index begin, end;
  };
  /// Of n columns of the result, those that queries below `query` meet are the first.
  Index Columns(Index query, Index n) const {
    return of == Of::kResult ? std::clamp<Index>(query + offset, 0, n) : n;
  }
  /// Of k products, those in which rows [begin, end) of op(A) take part: of queries the keys that they meet,
  /// of keys, where A is read transposed, the queries that meet them.
  Range Products(bool transposed, Index begin, Index end, Index k) const {
    if (of != Of::kLeft) return {0, k};
    if (transposed) return {std::clamp<Index>(begin - offset, 0, k), k};
    return {0, std::clamp<Index>(end + offset, 0, k)};
  }
};

}  // namespace dark
