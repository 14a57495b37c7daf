#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#if defined(__AVX512BF16__)
#include <immintrin.h>
#endif

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

#if defined(__AVX512BF16__)
/// Elements low and high as 16 + 16 bfloat16, to nearest, ties to even. As in the products themselves, what
/// is below the smallest normal number, 2^-126, counts as zero.
inline __m512i ToBf16(__m512 low, __m512 high) {
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
}
#endif

/// to[i] = values[i] as a product reads it.
inline void RoundToBf16(const float* values, Index count, Bf16* to) {
  Index i = 0;
#if defined(__AVX512BF16__)
  for (; i + 32 <= count; i += 32)
    _mm512_storeu_si512(to + i, ToBf16(_mm512_loadu_ps(values + i), _mm512_loadu_ps(values + i + 16)));
#endif
  for (; i < count; ++i)
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
