#pragma once

#include <Eigen/Core>
#include <cstring>

#include "core/setting.h"

namespace dark {

/// The widest vector registers that the build may use, by the compiler's vector extension: arithmetic on
/// Simd<T> is elementwise, and a multiply followed by an add is fused.
#if defined(__AVX512F__)
inline constexpr Index kSimdBytes = 64;
#elif defined(__AVX__)
inline constexpr Index kSimdBytes = 32;
#else
inline constexpr Index kSimdBytes = 16;
#endif

template <class T>
struct SimdOf;
template <>
struct SimdOf<float> {
  typedef float Type __attribute__((vector_size(kSimdBytes), may_alias));
};
template <>
struct SimdOf<double> {
  typedef double Type __attribute__((vector_size(kSimdBytes), may_alias));
};
template <class T>
using Simd = typename SimdOf<T>::Type;
template <class T>
inline constexpr Index kLanes = kSimdBytes / static_cast<Index>(sizeof(T));

template <class T>
inline Simd<T> LoadSimd(const T* from) {
  Simd<T> value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
inline void StoreSimd(T* to, const Simd<T>& value) {
  std::memcpy(to, &value, sizeof value);
}

/// factor·value + term, rounded once where the processor can: said outright, because a compiler that may
/// choose what to fuse chooses differently from place to place.
template <class T>
inline Simd<T> FusedMultiplyAdd(T factor, const Simd<T>& value, const Simd<T>& term) {
  using Packet = typename Eigen::internal::packet_traits<T>::type;
  static_assert(sizeof(Packet) == sizeof(Simd<T>));
  return reinterpret_cast<Simd<T>>(Eigen::internal::pmadd(Eigen::internal::pset1<Packet>(factor),
                                                          reinterpret_cast<Packet>(value),
                                                          reinterpret_cast<Packet>(term)));
}

}  // namespace dark
