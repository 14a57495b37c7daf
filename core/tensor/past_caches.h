#pragma once

#include <algorithm>
#include <cstdint>

#include "core/tensor/simd.h"

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace dark {

/// Copies to memory past the caches, for arrays that will have left them before they are read: what stood
/// there is not read first, which takes a third to a half off the time of a loop that memory limits. Other
/// threads see it after a locked instruction, as at the end of a parallel loop.
template <class E>
void CopyPastCaches(const E* from, Index count, E* to) {
  Index i = 0;
#if defined(__AVX__)
  constexpr Index kWhole = kSimdBytes / static_cast<Index>(sizeof(E));
  const bool aligned = reinterpret_cast<std::uintptr_t>(to) % kSimdBytes == 0;
  for (; aligned && i + kWhole <= count; i += kWhole) {
#if defined(__AVX512F__)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
#else
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
#endif
  }
#endif
  std::copy(from + i, from + count, to + i);
}

}  // namespace dark
