#pragma once

#include <algorithm>

#include "core/setting.h"

namespace dark {

/// Head layout of an attention op. Token n = b·context + t is a row; head h occupies columns [h·dim,
/// (h+1)·dim). Query head h reads key head h·key_heads/heads and value head h·value_heads/heads
/// (grouped-query attention); key_heads is value_heads, or heads when every query head has a geometry of its
/// own.
struct HeadShape {
  Index batch = 1;
  Index context = 1;
  Index heads = 1;
  Index key_heads = 1;
  Index value_heads = 1;
  Index dim = 1;        ///< columns of a query or key head
  Index value_dim = 1;  ///< columns of a value head

  Index tokens() const { return batch * context; }
  Index queries_per_key() const { return heads / key_heads; }
  Index keys_per_value() const { return key_heads / value_heads; }
};

/// One head of one sequence: `context` rows, `stride` elements apart.
template <class T>
struct HeadView {
  T* data;
  Index stride;
  T* row(Index t) const { return data + t * stride; }
  void Clear(Index rows, Index dim) const {
    for (Index t = 0; t < rows; ++t) std::fill_n(row(t), dim, T(0));
  }
};

/// Node::Beta of the gradients of q, k and v: 1 adds to them, 0 writes them.
template <class T>
struct GradientBetas {
  T q, k, v;
};

/// The view of head `h` (of width `dim`) of sequence `b` in an activation with `cols` columns.
template <class T>
HeadView<T> Head(T* activation, Index cols, Index context, Index b, Index h, Index dim) {
  return {activation + b * context * cols + h * dim, cols};
}

}  // namespace dark
