#include "core/tensor/parallel.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <vector>

namespace dark {

TEST_CASE("a parallel loop runs each index once, for any number of threads and indices") {
  const int before = ThreadCount();
  for (const int threads : {1, 2, 3, 7, 70}) {
    omp_set_num_threads(threads);
    for (const Index count : {0, 1, 2, 5, 63, 64, 65, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
      ParallelFor(count, [&](Index i) { ++runs[static_cast<std::size_t>(i)]; });
      INFO(threads << " threads, " << count << " indices");
      CHECK(std::all_of(runs.begin(), runs.end(), [](const std::atomic<int>& n) { return n == 1; }));
    }
  }
  omp_set_num_threads(before);
}

TEST_CASE("a thread does its own share first, then what a slow one has not come to") {
  Shares shares(10, 2);
  std::vector<Index> order;
  const auto note = [&](Index i) { order.push_back(i); };
  shares.Work(0, [&](Index i) {
    note(i);
    if (i == 1) shares.Work(1, note);  // thread 0 is held up at 1 while thread 1 works
  });
  CHECK(order == std::vector<Index>{0, 1, 5, 6, 7, 8, 9, 2, 3, 4});
}

}  // namespace dark
