#include "experiments/benchmark/machine.h"

#include <omp.h>

#include <Eigen/Core>
#include <algorithm>
#include <fstream>
#include <string>

#include "core/clock.h"
#include "core/tensor/arena.h"
#include "core/tensor/bf16_matmul.h"
#include "core/tensor/past_caches.h"
#include "core/tensor/simd.h"
#include "core/tensor/tile_kernel.h"

namespace dark {
namespace {

constexpr int kTries = 5;
constexpr Index kStreamBytes = Index{128} << 20;  // of each of three arrays

/// Multiply-adds on independent registers: enough of them to hide the latency of each. Returns operations.
template <class T>
double MultiplyAdds(Index rounds, T& sink) {
  using Packet = typename Eigen::internal::packet_traits<T>::type;
  constexpr int kRegisters = 12;
  Packet sums[kRegisters];
  for (int i = 0; i < kRegisters; ++i) sums[i] = Eigen::internal::pset1<Packet>(T(i));
  const Packet factor = Eigen::internal::pset1<Packet>(T(0.999)), term = Eigen::internal::pset1<Packet>(sink);
  for (Index round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (Packet& sum : sums) sum = Eigen::internal::pmadd(sum, factor, term);
  }
  for (const Packet& sum : sums) sink += Eigen::internal::predux(sum);
  return 2.0 * kRegisters * static_cast<double>(kLanes<T>) * static_cast<double>(rounds);
}

#if defined(__AVX512BF16__) && defined(__AMX_BF16__)
/// Products of matrix tiles, 16 × 16 × 32 each: six sums, of which four would hide the latency.
double TileMultiplyAdds(Index rounds, float& sink) {
  alignas(64) float tile[16 * 16] = {sink};
  alignas(64) Bf16 ones[kBf16Tile];  // on zeros the clock is higher than it ever is on data
  std::fill(std::begin(ones), std::end(ones), Bf16{0x3f80});
  const TileUse tiles;
  asm volatile("" ::: "memory");  // g++ 12 does not know that a tile is loaded from memory
  _tile_loadd(0, tile, 64);
  _tile_loadd(6, ones, 64);
  _tile_loadd(7, ones, 64);
  for (Index round = 0; round < rounds; ++round) {
    _tile_dpbf16ps(0, 6, 7);
    _tile_dpbf16ps(1, 6, 7);
    _tile_dpbf16ps(2, 6, 7);
    _tile_dpbf16ps(3, 6, 7);
    _tile_dpbf16ps(4, 6, 7);
    _tile_dpbf16ps(5, 6, 7);
  }
  _tile_stored(0, tile, 64);
  sink += tile[0];
  return 2.0 * 6 * 16 * 16 * 32 * static_cast<double>(rounds);
}
#endif

/// The same with operands in bfloat16, by the instructions that products use.
double Bf16MultiplyAdds(Index rounds, float& sink) {
#if defined(__AVX512BF16__) && defined(__AMX_BF16__)
  if (MayUseTiles()) return TileMultiplyAdds(rounds / 8, sink);
#endif
#if defined(__AVX512BF16__)
  constexpr int kRegisters = 12;
  const auto pairs = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(sink)));
  __m512 sums[kRegisters];
  for (int i = 0; i < kRegisters; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  for (Index round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (__m512& sum : sums) sum = _mm512_dpbf16_ps(sum, pairs, pairs);
  }
  for (const __m512& sum : sums) sink += _mm512_reduce_add_ps(sum);
  return 2.0 * kRegisters * 32 * static_cast<double>(rounds);
#else
  return MultiplyAdds(rounds, sink);
#endif
}

/// `multiply_adds(rounds, sink)` returns its operations.
template <class T, class MultiplyAdds>
double FmaRate(int threads, Index rounds, const MultiplyAdds& multiply_adds) {
  double operations = 0, sum = 0;
  const auto start = Clock::now();
#pragma omp parallel num_threads(threads) reduction(+ : operations, sum)
  {
    T sink = T(threads);
    operations += multiply_adds(rounds, sink);
    sum += static_cast<double>(sink);
  }
  const double rate = operations / SecondsSince(start);
  return sum == 0.5 ? 0 : rate;  // keeps the sums, and with them the loops
}

double Bandwidth(int threads) {
  constexpr Index kPart = 64;
  const Index count = kStreamBytes / static_cast<Index>(sizeof(float));
  float *a = nullptr, *b = nullptr, *c = nullptr;
  Arena<float> memory;
  for (float** where : {&a, &b, &c}) memory.Plan(where, count);
  memory.Allocate();
  double best = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const auto start = Clock::now();
#pragma omp parallel for num_threads(threads) schedule(static)
    for (Index i = 0; i < count; i += kPart) {
      alignas(64) float part[kPart];
      for (Index j = 0; j < kPart; ++j) part[j] = b[i + j] + 0.5f * c[i + j];
      CopyPastCaches(part, kPart, a + i);
    }
    best = std::max(best, 3.0 * static_cast<double>(kStreamBytes) / SecondsSince(start));
  }
  return best;
}

}  // namespace

MachineLimits MeasureMachine(int threads) {
  constexpr Index kRounds = 2'000'000;
  double fp32 = 0, fp64 = 0, bf16 = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {  // in turn, so that a slow moment spoils none of them
    fp32 = std::max(fp32, FmaRate<float>(threads, kRounds, MultiplyAdds<float>));
    fp64 = std::max(fp64, FmaRate<double>(threads, kRounds, MultiplyAdds<double>));
    bf16 = std::max(bf16, FmaRate<float>(threads, kRounds, Bf16MultiplyAdds));
  }
  const double split = Bf16Terms(Operands::kSplit) > 0 ? bf16 / 6 : fp32;
  return {fp32, fp64, bf16, split, Bandwidth(threads)};
}

// Short tries: what takes the processor away for a moment must not look like a slow clock.
double FmaRateNow(int threads) {
  double best = 0;
  for (int attempt = 0; attempt < kTries; ++attempt)
    best = std::max(best, FmaRate<float>(threads, 400'000, MultiplyAdds<float>));
  return best;
}

double PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string field; status >> field; std::getline(status, field)) {
    double kibibytes = 0;
    if (field == "VmHWM:" && status >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

void ResetPeakMemory() { std::ofstream("/proc/self/clear_refs") << 5; }

}  // namespace dark
