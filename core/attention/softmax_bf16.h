#pragma once

#include "core/attention/softmax_head.h"

namespace dark {

/// SoftmaxForward and SoftmaxBackward by products of bfloat16, where Bf16Terms(shape.operands) is kTerms > 0:
/// by tiles of 32 queries × 32 keys, whose exponentials go from registers straight into operands. Those below
/// 2^-126 are zero.
template <int kTerms>
struct Bf16SoftmaxForward {
  static Index Scratch(const SoftmaxShape<float>& shape);
  static void Run(const SoftmaxShape<float>& shape, HeadView<const float> q, HeadView<const float> k,
                  HeadView<const float> v, HeadView<float> out, float* log_sum, float* scratch);
};
template <int kTerms>
struct Bf16SoftmaxBackward {
  static Index Scratch(const SoftmaxShape<float>& shape);
  static void Run(const SoftmaxShape<float>& shape, const SoftmaxGradients<float>& x, float* scratch);
};

}  // namespace dark
