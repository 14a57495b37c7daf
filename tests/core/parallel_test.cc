#include "core/tensor/parallel.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
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

TEST_CASE("what a slow thread has not come to is done by another") {
  const int before = ThreadCount();
  omp_set_num_threads(2);
  std::vector<int> by(64, -1);
  std::atomic<int> done = 0;
  ParallelFor(64, [&](Index i) {
    // Index 0 waits until others have done as much as can be done without its thread.
    for (int tries = 0; i == 0 && done < 40 && tries < 10000; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    by[static_cast<std::size_t>(i)] = ThreadIndex();
    ++done;
  });
  CHECK(std::count(by.begin(), by.end(), by[0]) <= 24);
  omp_set_num_threads(before);
}

}  // namespace dark
