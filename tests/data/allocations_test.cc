#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>

#include "data/batches.h"
#include "tests/data/generated.h"

// Counts what the whole test program allocates; the only way to see an allocation that something hides.
static std::atomic<long> allocations{0};

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
// std::stable_sort's buffer comes from here and goes back through the plain delete below.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace dark {
namespace {

TEST_CASE("after the first, batches allocate nothing", "[batches]") {
  const auto tokens = Numbered(500);
  BatchStream stream(tokens, 4, 10, 1);
  const EvalWindows windows(tokens, 4, 10, 7);
  Batch train, eval;
  stream.Fill(0, train);
  windows.Fill(0, eval);
  const long before = allocations;
  for (Index i = 0; i < 50; ++i) stream.Fill(i, train);  // four epochs
  for (Index i = 0; i < windows.batches(); ++i) windows.Fill(i, eval);
  const long after = allocations;
  REQUIRE(after == before);
  const std::vector<std::uint32_t> counted(tokens);  // the counter does count
  REQUIRE(allocations > after);
}

}  // namespace
}  // namespace dark
