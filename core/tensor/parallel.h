#pragma once

#include <omp.h>

#include <algorithm>
#include <atomic>

#include "core/setting.h"

namespace dark {

/// The indices [0, count) in one share a thread, of which a thread takes its own first, so that it finds in
/// its caches what it left there, and then what a slower thread has not come to.
class Shares {
 public:
  Shares(Index count, int threads) : shares_(std::min(threads, kMost)), grain_(count / (8 * shares_) + 1) {
    for (int i = 0; i < shares_; ++i) {
      next_[i].value.store(i * count / shares_, std::memory_order_relaxed);
      end_[i] = (i + 1) * count / shares_;
    }
  }
  template <class Body>
  void Work(int thread, const Body& body) {
    for (int i = 0; i < shares_; ++i) {
      const int share = (thread + i) % shares_;
      for (;;) {
        const Index begin = next_[share].value.fetch_add(grain_, std::memory_order_relaxed);
        if (begin >= end_[share]) break;
        for (Index j = begin; j < std::min(begin + grain_, end_[share]); ++j) body(j);
      }
    }
  }

 private:
  static constexpr int kMost = 64;
  struct alignas(64) Counter {
    std::atomic<Index> value;
  };
  int shares_;
  Index grain_;
  Counter next_[kMost];
  Index end_[kMost];
};

/// Runs `body(i)` for i in [0, count) on the OpenMP team. What one i does must not depend on the thread that
/// runs it and must write to places of its own; with that, results are bit-identical for any number of
/// threads.
template <class Body>
void ParallelFor(Index count, const Body& body) {
  const int threads = omp_get_max_threads();
  if (threads == 1 || count <= 1) {
    for (Index i = 0; i < count; ++i) body(i);
    return;
  }
  Shares shares(count, threads);
#pragma omp parallel
  shares.Work(omp_get_thread_num(), body);
}

/// Splits [0, count) into blocks of `block` (the last may be shorter) and runs `body(begin, end,
/// block_index)` on them in parallel. The split depends on the arguments alone, never on the number of
/// threads.
template <class Body>
void ParallelBlocks(Index count, Index block, const Body& body) {
  ParallelFor((count + block - 1) / block, [&](Index i) {
    const Index begin = i * block;
    body(begin, begin + block < count ? begin + block : count, i);
  });
}

inline int ThreadCount() { return omp_get_max_threads(); }
inline int ThreadIndex() { return omp_get_thread_num(); }

}  // namespace dark
