#pragma once

#if defined(__AVX512BF16__)

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/tensor/bf16_kernel.h"
#include "core/tensor/tile_kernel.h"

namespace dark {

/// Where a block of at most 32 × 32 sums goes: C = beta·C + sums.
struct BlockOfC {
  float* c;
  Index ldc, rows, cols;
  float beta;

  bool IsWhole() const { return rows == kBf16Panel && cols == kBf16Panel; }
};

struct Nothing {
  void operator()() const {}
};

/// The products of panels, block by block. Exists while a thread multiplies.
template <int kTerms>
class Bf16Blocks;

/// Rounded operands: the chain of an element begins with beta·C.
template <>
class Bf16Blocks<1> {
 public:
#if defined(__AMX_BF16__)
  Bf16Blocks() {
    if (MayUseTiles()) tiles_.emplace();
  }
#endif

  /// In place or, at an edge or for a beta of its own, beside C. Has no time for other work.
  template <class Between = Nothing>
  void Multiply(Index groups, const Bf16* a, const Bf16* b, const BlockOfC& to, const Between& = {}) const {
    if (to.IsWhole() && (to.beta == 0 || to.beta == 1))
      return kernel()(groups, a, b, to.beta == 0, to.c, to.ldc);
    alignas(64) float sums[kBf16Panel * kBf16Panel];
    if (to.beta != 0) {
      std::fill(std::begin(sums), std::end(sums), 0.0F);
      for (Index i = 0; i < to.rows; ++i)
        for (Index j = 0; j < to.cols; ++j) sums[i * kBf16Panel + j] = to.beta * to.c[i * to.ldc + j];
    }
    kernel()(groups, a, b, to.beta == 0, sums, kBf16Panel);
    for (Index i = 0; i < to.rows; ++i)
      std::copy(sums + i * kBf16Panel, sums + i * kBf16Panel + to.cols, to.c + i * to.ldc);
  }
  void Finish() const {}

 private:
#if defined(__AMX_BF16__)
  Bf16Kernel kernel() const { return tiles_ ? Bf16TileKernel : Bf16DotKernel; }
  std::optional<TileUse> tiles_;
#else
  static Bf16Kernel kernel() { return Bf16DotKernel; }
#endif
};

#if defined(__AMX_BF16__)

/// Split operands: the chain begins with zero and ends with the pass, so that its six sums a group round at
/// the size of a pass, and beta·C is added afterwards. Not at once, which would wait for the matrix unit, but
/// while the next block is multiplied.
template <>
class Bf16Blocks<3> {
 public:
  Bf16Blocks() = default;
  ~Bf16Blocks() { Finish(); }
  Bf16Blocks(const Bf16Blocks&) = delete;
  Bf16Blocks& operator=(const Bf16Blocks&) = delete;

  /// Calls `between()` after each step (kTileSteps), time for other work; it must leave A, B and C alone.
  template <class Between = Nothing>
  void Multiply(Index groups, const Bf16* a, const Bf16* b, const BlockOfC& to, const Between& between = {}) {
    const bool in_place = to.IsWhole() && to.beta == 0;
    float* sums = sums_[turn_ = 1 - turn_];
    MultiplyByTiles<3>(groups, a, b, true, in_place ? to.c : sums, in_place ? to.ldc : kBf16Panel,
                       [&](Index step) {
                         ReadRowsAhead(step, 1, to.c, to.ldc);
                         AddPending(step, step + 1);
                         between();
                       });
    AddPending(groups * kTileSteps<3>, kBf16Panel);
    pending_ = to;
    if (in_place) pending_.rows = 0;
    pending_sums_ = sums;
  }

  /// Adds what is pending: only then is C what was multiplied.
  void Finish() {
    AddPending(0, kBf16Panel);
    pending_.rows = 0;
  }

 private:
  void AddPending(Index begin, Index end) const {
    const auto [c, ldc, rows, cols, beta] = pending_;
    for (Index i = begin; i < std::min(end, rows); ++i) {
      const float* sums = pending_sums_ + i * kBf16Panel;
      float* row = c + i * ldc;
      if (beta == 0) {
        std::copy(sums, sums + cols, row);
      } else {
        for (Index j = 0; j < cols; ++j) row[j] = std::fma(beta, row[j], sums[j]);
      }
    }
  }

  TileUse tiles_;
  alignas(64) float sums_[2][kBf16Panel * kBf16Panel];
  int turn_ = 0;
  BlockOfC pending_ = {};
  const float* pending_sums_ = nullptr;
};

#endif

}  // namespace dark

#endif
