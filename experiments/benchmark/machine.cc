#include "experiments/benchmark/machine.h"

#include <omp.h>

#include <Eigen/Core>
#include <algorithm>
#include <fstream>
#include <string>

#include "core/clock.h"
#include "core/tensor/arena.h"
#include "core/tensor/simd.h"

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

template <class T>
double FmaRate(int threads, Index rounds) {
  double operations = 0, sum = 0;
  const auto start = Clock::now();
#pragma omp parallel num_threads(threads) reduction(+ : operations, sum)
  {
    T sink = T(threads);
    operations += MultiplyAdds(rounds, sink);
    sum += static_cast<double>(sink);
  }
  const double rate = operations / SecondsSince(start);
  return sum == 0.5 ? 0 : rate;  // keeps the sums, and with them the loops
}

template <class T>
double PeakFlops(int threads) {
  double best = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) best = std::max(best, FmaRate<T>(threads, 2'000'000));
  return best;
}

double Bandwidth(int threads) {
  const Index count = kStreamBytes / static_cast<Index>(sizeof(float));
  float *a = nullptr, *b = nullptr, *c = nullptr;
  Arena<float> memory;
  for (float** where : {&a, &b, &c}) memory.Plan(where, count);
  memory.Allocate();
  double best = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const auto start = Clock::now();
#pragma omp parallel for num_threads(threads) schedule(static)
    for (Index i = 0; i < count; ++i) a[i] = b[i] + 0.5f * c[i];
    best = std::max(best, 3.0 * static_cast<double>(kStreamBytes) / SecondsSince(start));
  }
  return best;
}

}  // namespace

MachineLimits MeasureMachine(int threads) {
  return {PeakFlops<float>(threads), PeakFlops<double>(threads), Bandwidth(threads)};
}

double FmaRateNow(int threads) { return FmaRate<float>(threads, 1'000'000); }

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
