#include "core/optim/squared_sums.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <utility>

#include "core/tensor/parallel.h"

namespace dark {
namespace {

constexpr Index kBlock = 16384;
constexpr std::size_t kChains = 4;

/// A sum in the making: each addition has to wait for the one before.
struct Chain {
  const float *x = nullptr, *y = nullptr;
  Index size = 0;
  double sum = 0;
};

// Elements [begin, end) of the first kCount chains, in turn, so that an addition has not to wait for its
// like.
template <std::size_t kCount, bool kDifference>
void Advance(std::array<Chain, kChains>& chains, Index begin, Index end) {
  std::array<double, kCount> sums;
  for (std::size_t c = 0; c < kCount; ++c) sums[c] = chains[c].sum;
  for (Index i = begin; i < end; ++i) {
    for (std::size_t c = 0; c < kCount; ++c) {
      const float difference = kDifference ? chains[c].x[i] - chains[c].y[i] : chains[c].x[i];
      const auto value = static_cast<double>(difference);
      sums[c] += value * value;  // the product of two floats is exact in double
    }
  }
  for (std::size_t c = 0; c < kCount; ++c) chains[c].sum = sums[c];
}

// The chains stand longest first, so that those which end drop out at the end.
template <bool kDifference>
void Finish(std::array<Chain, kChains>& chains) {
  const auto last = [&](std::size_t count) { return count > kChains ? 0 : chains[count - 1].size; };
  [&]<std::size_t... kEnded>(std::index_sequence<kEnded...>) {
    (Advance<kChains - kEnded, kDifference>(chains, last(kChains - kEnded + 1), last(kChains - kEnded)), ...);
  }
  (std::make_index_sequence<kChains>{});
}

// Doubles are added by vectors: the products round too, so there is no order that is more natural.
double Sum(const double* x, const double* y, Index size) {
  using Array = Eigen::Map<const Eigen::Array<double, Eigen::Dynamic, 1>>;
  if (y == nullptr) return Array(x, size).square().sum();
  return (Array(x, size) - Array(y, size)).square().sum();
}

}  // namespace

template <class T>
void SquaredSums<T>::Add(T* const* x, T* const* y, Index size) {
  for (Index begin = 0; begin < size; begin += kBlock) {
    blocks_.push_back({x, y, begin, std::min(kBlock, size - begin), 0});
    const auto place = std::upper_bound(order_.begin(), order_.end(), blocks_.back().size,
                                        [this](Index a, std::size_t b) { return a > blocks_[b].size; });
    order_.insert(place, blocks_.size() - 1);
  }
  ends_.push_back(blocks_.size());
}

template <>
void SquaredSums<double>::Take() {
  ParallelFor(static_cast<Index>(blocks_.size()), [this](Index i) {
    Block& block = blocks_[static_cast<std::size_t>(i)];
    block.sum =
        Sum(*block.x + block.begin, block.y == nullptr ? nullptr : *block.y + block.begin, block.size);
  });
}

template <>
void SquaredSums<float>::Take() {
  const std::size_t groups = (order_.size() + kChains - 1) / kChains;
  ParallelFor(static_cast<Index>(groups), [this](Index group) {
    const std::size_t first = static_cast<std::size_t>(group) * kChains;
    const std::size_t count = std::min(kChains, order_.size() - first);
    std::array<Chain, kChains> chains;
    bool difference = false;
    for (std::size_t c = 0; c < count; ++c) {
      const Block& block = blocks_[order_[first + c]];
      chains[c] = {*block.x + block.begin, block.y == nullptr ? nullptr : *block.y + block.begin, block.size};
      difference = block.y != nullptr;
    }
    difference ? Finish<true>(chains) : Finish<false>(chains);
    for (std::size_t c = 0; c < count; ++c) blocks_[order_[first + c]].sum = chains[c].sum;
  });
}

template <class T>
double SquaredSums<T>::operator[](std::size_t array) const {
  double sum = 0;
  for (std::size_t i = array == 0 ? 0 : ends_[array - 1]; i < ends_[array]; ++i) sum += blocks_[i].sum;
  return sum;
}

template class SquaredSums<float>;
template class SquaredSums<double>;

}  // namespace dark
