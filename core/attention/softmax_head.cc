#include "core/attention/softmax_head.h"

#include <algorithm>

#include "core/attention/softmax_bf16.h"
#include "core/attention/softmax_blocks.h"
#include "core/tensor/bf16_matmul.h"

namespace dark {
namespace {

/// Calls `bf16` with the number of terms where products are of bfloat16, else `blocks`.
template <class T, class Bf16, class Blocks>
auto Choose(const SoftmaxShape<T>& shape, [[maybe_unused]] const Bf16& bf16, const Blocks& blocks) {
  if constexpr (kOwnBf16<T>) {
    const int terms = Bf16Terms(shape.operands);
    if (terms == 1) return bf16(std::integral_constant<int, 1>());
#if defined(__AMX_BF16__)
    if (terms == 3) return bf16(std::integral_constant<int, 3>());
#endif
  }
  return blocks();
}

}  // namespace

template <class T>
Index SoftmaxShape<T>::Scratch() const {
  return Choose(
      *this,
      [&](auto terms) {
        return std::max(Bf16SoftmaxForward<terms>::Scratch(*this),
                        Bf16SoftmaxBackward<terms>::Scratch(*this));
      },
      [&] { return BlockSoftmaxScratch(*this); });
}
template struct SoftmaxShape<float>;
template struct SoftmaxShape<double>;

template <class T>
void SoftmaxForward(const SoftmaxShape<T>& shape, HeadView<const T> q, HeadView<const T> k,
                    HeadView<const T> v, HeadView<T> out, T* log_sum, T* scratch) {
  Choose(
      shape, [&](auto terms) { Bf16SoftmaxForward<terms>::Run(shape, q, k, v, out, log_sum, scratch); },
      [&] { BlockSoftmaxForward(shape, q, k, v, out, log_sum, scratch); });
}
template void SoftmaxForward(const SoftmaxShape<float>&, HeadView<const float>, HeadView<const float>,
                             HeadView<const float>, HeadView<float>, float*, float*);
template void SoftmaxForward(const SoftmaxShape<double>&, HeadView<const double>, HeadView<const double>,
                             HeadView<const double>, HeadView<double>, double*, double*);

template <class T>
void SoftmaxBackward(const SoftmaxShape<T>& shape, const SoftmaxGradients<T>& x, T* scratch) {
  Choose(
      shape, [&](auto terms) { Bf16SoftmaxBackward<terms>::Run(shape, x, scratch); },
      [&] { BlockSoftmaxBackward(shape, x, scratch); });
}
template void SoftmaxBackward(const SoftmaxShape<float>&, const SoftmaxGradients<float>&, float*);
template void SoftmaxBackward(const SoftmaxShape<double>&, const SoftmaxGradients<double>&, double*);

}  // namespace dark
