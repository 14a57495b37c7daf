#pragma once

#include <omp.h>

#include "core/setting.h"

namespace dark {

/// Runs `body(i)` for i in [0, count) on the OpenMP team. What one i does must not depend on the thread that
/// runs it and must write to places of its own; with that, results are bit-identical for any number of
/// threads.
template <class Body>
void ParallelFor(Index count, const Body& body) {
#pragma omp parallel for schedule(static)
  for (Index i = 0; i < count; ++i) body(i);
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
