#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/tensor/matmul.h"

namespace dark {

/// The nearest bfloat16 (8 bits of exponent, 8 of significand), ties to even, as a float. Infinities stay,
/// what is nearer to 2^128 than to the largest bfloat16 becomes one, and a NaN stays a (quiet) NaN.
inline float RoundToBf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);  // a carry moves on to the exponent
  const std::uint32_t quiet = bits | 0x00400000;  // a NaN whose low bits alone are set must not become ∞
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  return std::bit_cast<float>((is_nan ? quiet : rounded) & 0xffff0000);
}

inline void RoundToBf16(float* values, Index count) {
#pragma omp simd
  for (Index i = 0; i < count; ++i) values[i] = RoundToBf16(values[i]);
}

inline void RoundToBf16(const float* values, Index count, Bf16* to) {
#pragma omp simd
  for (Index i = 0; i < count; ++i)
    to[i] = static_cast<Bf16>(std::bit_cast<std::uint32_t>(RoundToBf16(values[i])) >> 16);
}

/// Values as a product with these operands reads them.
template <class T>
void RoundOperands(Operands operands, T* values, Index count) {
  if constexpr (std::is_same_v<T, float>) {
    if (operands == Operands::kBf16) RoundToBf16(values, count);
  }
}

}  // namespace dark
