#include "data/batches.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "tests/data/generated.h"

namespace dark {
namespace {

using Catch::Contains;

// First inputs of all windows of `epochs` epochs, in order, micro-batches of one.
std::vector<Index> Starts(std::span<const std::uint32_t> numbered, Index context, std::uint64_t seed,
                          Index epochs) {
  BatchStream stream(numbered, 1, context, seed);
  Batch batch;
  std::vector<Index> starts;
  for (Index i = 0; i < epochs * stream.windows(); ++i) {
    stream.Fill(i, batch);
    starts.push_back(batch.inputs[0]);
  }
  return starts;
}

TEST_CASE("an epoch uses every token at most once and wastes less than a window", "[batches]") {
  Stream random(1, "batches");
  for (int trial = 0; trial < 300; ++trial) {
    const Index context = 1 + static_cast<Index>(random.Below(20));
    const auto size = static_cast<std::size_t>(context) + 1 + random.Below(400);
    const Index batch_size = 1 + static_cast<Index>(random.Below(9));
    const auto tokens = Numbered(size);
    BatchStream stream(tokens, batch_size, context, random.Bits64());
    CAPTURE(size, context, batch_size);
    // Whole batches of the first epoch only; what is left of it is less than a batch.
    std::vector<int> used_input(size, 0), used_target(size, 0);
    Batch batch;
    const Index full = stream.windows() / batch_size;
    for (Index i = 0; i < full; ++i) {
      stream.Fill(i, batch);
      REQUIRE(batch.tokens == batch_size * context);
      for (std::size_t j = 0; j < batch.inputs.size(); ++j) {
        REQUIRE(batch.targets[j] == batch.inputs[j] + 1);
        REQUIRE(batch.targets[j] < static_cast<std::int32_t>(size));
        ++used_input[batch.inputs[j]];
        ++used_target[batch.targets[j]];
      }
    }
    REQUIRE(*std::max_element(used_input.begin(), used_input.end()) <= 1);
    REQUIRE(*std::max_element(used_target.begin(), used_target.end()) <= 1);
    const auto used = std::count(used_input.begin(), used_input.end(), 1);
    REQUIRE(static_cast<Index>(size) - used < batch_size * context + 1);
  }
}

TEST_CASE("a batch is a pure function of seed and its number", "[batches]") {
  const auto tokens = Numbered(1000);
  constexpr Index kBatches = 80;  // several epochs of 14 batches
  BatchStream forward(tokens, 7, 10, 5);
  std::vector<Batch> expected(kBatches);
  for (Index i = 0; i < kBatches; ++i) forward.Fill(i, expected[i]);

  BatchStream backward(tokens, 7, 10, 5);
  Batch batch;
  for (Index i = kBatches; i-- > 0;) {
    backward.Fill(i, batch);
    REQUIRE(batch.inputs == expected[i].inputs);
    REQUIRE(batch.hash == expected[i].hash);
  }
  // As after a resume, twice, once within an epoch and once across its border.
  for (const Index position : {Index{3}, Index{14}, Index{41}}) {
    BatchStream resumed(tokens, 7, 10, 5);
    resumed.Fill(position, batch);
    REQUIRE(batch.inputs == expected[position].inputs);
    REQUIRE(batch.targets == expected[position].targets);
  }
  std::set<std::uint64_t> hashes;
  for (const Batch& one : expected) hashes.insert(one.hash);
  REQUIRE(hashes.size() == kBatches);
}

TEST_CASE("epochs and seeds differ in order and offset", "[batches]") {
  const auto tokens = Numbered(1009);  // 100 windows of 10 and a remainder of 8
  const std::vector<Index> starts = Starts(tokens, 10, 1, 40);
  std::set<Index> offsets;
  std::set<std::vector<Index>> orders;
  for (Index epoch = 0; epoch < 40; ++epoch) {
    const auto begin = starts.begin() + epoch * 100;
    std::vector<Index> order(begin, begin + 100);
    const Index offset = *std::min_element(order.begin(), order.end());
    offsets.insert(offset);
    orders.insert(order);
    std::sort(order.begin(), order.end());
    for (Index i = 0; i < 100; ++i) REQUIRE(order[i] == offset + 10 * i);
  }
  REQUIRE(offsets == std::set<Index>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  REQUIRE(orders.size() == 40);
  REQUIRE(Starts(tokens, 10, 2, 1) != Starts(tokens, 10, 1, 1));
}

TEST_CASE("window numbers run on through the epochs, within a batch too", "[batches]") {
  const auto tokens = Numbered(32);  // 3 windows of 10: a batch of 8 spans 3 or 4 epochs
  const std::vector<Index> starts = Starts(tokens, 10, 9, 16);
  BatchStream stream(tokens, 8, 10, 9);
  REQUIRE(stream.windows() == 3);
  Batch batch;
  for (Index sequence = 0; sequence < 6; ++sequence) {
    stream.Fill(sequence, batch);
    for (Index row = 0; row < 8; ++row) REQUIRE(batch.inputs[row * 10] == starts[sequence * 8 + row]);
  }
}

TEST_CASE("order is uniform: each window comes first equally often", "[batches]") {
  const auto tokens = Numbered(9);  // 4 windows of 2, no remainder
  const std::vector<Index> starts = Starts(tokens, 2, 3, 4000);
  std::vector<int> first(4, 0);
  for (std::size_t epoch = 0; epoch < 4000; ++epoch) ++first[starts[4 * epoch] / 2];
  for (const int count : first) REQUIRE(std::abs(count - 1000) < 5 * std::sqrt(4000 * 0.25 * 0.75));
}

TEST_CASE("the hash sees inputs, targets and their order", "[batches]") {
  const auto low = Numbered(11);
  auto high = low;
  high.back() += 1;  // the last target only
  Batch a, b;
  EvalWindows(low, 1, 10, 1).Fill(0, a);
  EvalWindows(high, 1, 10, 1).Fill(0, b);
  REQUIRE(a.inputs == b.inputs);
  REQUIRE(a.hash != b.hash);
}

TEST_CASE("validation windows are disjoint, spread over the split and padded", "[batches]") {
  Stream random(2, "eval");
  for (int trial = 0; trial < 300; ++trial) {
    const Index context = 1 + static_cast<Index>(random.Below(12));
    const Index batch_size = 1 + static_cast<Index>(random.Below(6));
    const Index asked = 1 + static_cast<Index>(random.Below(40));
    const auto size = static_cast<std::size_t>(context) + 1 + random.Below(300);
    CAPTURE(context, batch_size, asked, size);
    const auto tokens = Numbered(size);
    const EvalWindows windows(tokens, batch_size, context, asked);
    const Index available = (static_cast<Index>(size) - 1) / context;
    REQUIRE(windows.sequences() == std::min(asked, available));
    REQUIRE(windows.batches() == (windows.sequences() + batch_size - 1) / batch_size);

    std::vector<Index> starts;
    Index counted = 0;
    Batch batch;
    for (Index i = 0; i < windows.batches(); ++i) {
      windows.Fill(i, batch);
      REQUIRE(batch.inputs.size() == static_cast<std::size_t>(batch_size * context));
      counted += batch.tokens;
      for (Index row = 0; row < batch_size; ++row) {
        const bool padded = batch.targets[row * context] == -1;
        if (!padded) starts.push_back(batch.inputs[row * context]);
        for (Index t = row * context; t < (row + 1) * context; ++t)
          REQUIRE(batch.targets[t] == (padded ? -1 : batch.inputs[t] + 1));
      }
    }
    REQUIRE(counted == windows.sequences() * context);
    REQUIRE(static_cast<Index>(starts.size()) == windows.sequences());
    for (std::size_t i = 1; i < starts.size(); ++i) REQUIRE(starts[i] - starts[i - 1] >= context);
    REQUIRE(starts.front() == 0);
    if (starts.size() > 1) REQUIRE(starts.back() + context + 1 == static_cast<Index>(size));
  }
}

TEST_CASE("a split without one window is an error with counts", "[batches]") {
  for (const std::size_t size : {0, 1, 10}) {
    const auto tokens = Numbered(size);
    const std::string training = ErrorOf([&] { BatchStream(tokens, 1, 10, 1); });
    const std::string validation = ErrorOf([&] { EvalWindows(tokens, 1, 10, 4); });
    const std::string counts = std::to_string(size) + " tokens, need at least 11";
    CHECK_THAT(training, Contains("2: training split has no window") && Contains(counts));
    CHECK_THAT(validation, Contains("2: validation split has no window") && Contains(counts));
  }
  const auto tokens = Numbered(11);
  REQUIRE(BatchStream(tokens, 1, 10, 1).windows() == 1);
  REQUIRE(EvalWindows(tokens, 1, 10, 4).batches() == 1);
}

}  // namespace
}  // namespace dark
