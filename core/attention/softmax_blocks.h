#pragma once

#include "core/attention/softmax_head.h"

namespace dark {

/// SoftmaxForward and SoftmaxBackward by products of T, whatever the processor: blocks of queries against
/// blocks of keys, whose scores stay in the second-level cache.
template <class T>
Index BlockSoftmaxScratch(const SoftmaxShape<T>& shape);
template <class T>
void BlockSoftmaxForward(const SoftmaxShape<T>& shape, HeadView<const T> q, HeadView<const T> k,
                         HeadView<const T> v, HeadView<T> out, T* log_sum, T* scratch);
template <class T>
void BlockSoftmaxBackward(const SoftmaxShape<T>& shape, const SoftmaxGradients<T>& x, T* scratch);

}  // namespace dark
