#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/tensor/exp2.h"
#include "core/tensor/simd.h"

namespace dark {

/// e^x, and 0 where that is no normal number: a normaliser that underflows must not be a sum of subnormal
/// ones.
template <class T>
T Exponential(T x) {
  const T power = std::exp(x);
  return power < std::numeric_limits<T>::min() ? T(0) : power;
}
template <class T>
Simd<T> Exponential(const Simd<T>& x) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) return reinterpret_cast<Simd<T>>(Exp(reinterpret_cast<__m512>(x)));
#endif
  using Packet = typename Eigen::internal::packet_traits<T>::type;
  const auto power = reinterpret_cast<Simd<T>>(Eigen::internal::pexp(reinterpret_cast<Packet>(x)));
  return power < std::numeric_limits<T>::min() ? Simd<T>{} : power;
}

/// The first `count` lanes of x, then those of `rest`.
template <class T>
Simd<T> FirstLanes(Index count, const Simd<T>& x, const Simd<T>& rest) {
  struct Ones {
    T then_zeros[2 * kLanes<T>] = {};
    Ones() { std::fill_n(then_zeros, kLanes<T>, T(1)); }
  };
  static const Ones ones;
  const Simd<T> is_first = LoadSimd(ones.then_zeros + kLanes<T> - std::clamp<Index>(count, 0, kLanes<T>));
  return is_first != 0 ? x : rest;
}

/// Where a row is read and written: a register from column j on, or, beyond the last whole register, column
/// j.
template <class T>
struct AtLanes {
  using Value = Simd<T>;
  Index j;
  Value Load(const T* row) const { return LoadSimd(row + j); }
  void Store(T* row, const Value& value) const { StoreSimd(row + j, value); }
};
template <class T>
struct AtColumn {
  using Value = T;
  Index j;
  Value Load(const T* row) const { return row[j]; }
  void Store(T* row, Value value) const { row[j] = value; }
};

/// Calls body(at) for all columns of a row. Inline, for what the body refers to would be read again after
/// each store otherwise.
template <class T, class Body>
[[gnu::always_inline]] inline void ForLanes(Index cols, const Body& body) {
  Index j = 0;
  for (; j + kLanes<T> <= cols; j += kLanes<T>) body(AtLanes<T>{j});
  for (; j < cols; ++j) body(AtColumn<T>{j});
}

/// The sum of a row's numbers, in an order that follows from their count alone.
template <class T>
struct RowSum {
  Simd<T> lanes{};
  T rest{};
  void Add(const Simd<T>& x) { lanes += x; }
  void Add(T x) { rest += x; }
  T Total() const {
    using Packet = typename Eigen::internal::packet_traits<T>::type;
    return Eigen::internal::predux(reinterpret_cast<Packet>(lanes)) + rest;
  }
};

/// The largest of a row's numbers. One that is NaN may be passed over.
template <class T>
T RowMax(Index cols, const T* x) {
  using Packet = typename Eigen::internal::packet_traits<T>::type;
  T rest = -std::numeric_limits<T>::infinity();
  Simd<T> lanes = Simd<T>{} + rest;
  const auto take = [](auto& max, const auto& value) { max = value > max ? value : max; };
  ForLanes<T>(cols, [&](auto at) {
    if constexpr (std::is_same_v<decltype(at), AtLanes<T>>) {
      take(lanes, at.Load(x));
    } else {
      take(rest, at.Load(x));
    }
  });
  return std::max(rest, Eigen::internal::predux_max(reinterpret_cast<Packet>(lanes)));
}

template <class T>
T RowDot(Index cols, const T* x, const T* y) {
  RowSum<T> sum;
  ForLanes<T>(cols, [&](auto at) { sum.Add(at.Load(x) * at.Load(y)); });
  return sum.Total();
}

/// to = factor·from
template <class T>
void ScaleRow(Index cols, T factor, const T* from, T* to) {
  ForLanes<T>(cols, [&](auto at) { at.Store(to, factor * at.Load(from)); });
}

/// to = to∘by
template <class T>
void MultiplyBy(Index count, const T* by, T* to) {
  ForLanes<T>(count, [&](auto at) { at.Store(to, at.Load(to) * at.Load(by)); });
}

/// Reads a row that a later chunk needs into the second-level cache. Rows of a head stand in as many pages,
/// so that the processor does not see what comes next.
template <class T>
void ReadAhead(Index cols, const T* row) {
  constexpr Index kLine = 64 / static_cast<Index>(sizeof(T));
  for (Index j = 0; j < cols; j += kLine) __builtin_prefetch(row + j, 0, 2);
}

/// total = carry·total + Σ_i weight[i]·x[i], of rows of `cols` numbers.
template <class T>
void AddRows(Index rows, Index cols, const T* x, const T* weight, T carry, T* total) {
  constexpr Index kAtOnce = 4, kWide = kAtOnce * kLanes<T>;  // sums that do not wait for each other
  Index j = 0;
  for (; j + kWide <= cols; j += kWide) {
    Simd<T> sums[kAtOnce] = {};
    for (Index i = 0; i < rows; ++i)
      for (Index v = 0; v < kAtOnce; ++v) sums[v] += weight[i] * LoadSimd(x + i * cols + j + v * kLanes<T>);
    for (Index v = 0; v < kAtOnce; ++v) {
      T* to = total + j + v * kLanes<T>;
      StoreSimd(to, carry * LoadSimd(to) + sums[v]);
    }
  }
  ForLanes<T>(cols - j, [&](auto at) {
    typename decltype(at)::Value sum{};
    for (Index i = 0; i < rows; ++i) sum += weight[i] * at.Load(x + i * cols + j);
    at.Store(total + j, carry * at.Load(total + j) + sum);
  });
}

/// Each of the rows becomes x = exp(x − its largest), which is added to scale[row] unless that is nullptr.
template <class T>
void ExponentiateRows(Index rows, Index cols, T* x, T* scale) {
  for (Index i = 0; i < rows; ++i, x += cols) {
    const T max = RowMax(cols, x);
    if (scale != nullptr) scale[i] += max;
    ForLanes<T>(cols, [&](auto at) { at.Store(x, Exponential<T>(at.Load(x) - max)); });
  }
}

}  // namespace dark
