#include "data/batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/random.h"
#include "data/content_hash.h"

namespace dark {
namespace {

// Copies the window at `start` into row `row` of a batch that already has its shape.
void CopyWindow(std::span<const std::uint32_t> tokens, Index start, Index context, Index row, Batch& batch) {
  const auto from = tokens.begin() + start;
  std::copy(from, from + context, batch.inputs.begin() + row * context);
  std::copy(from + 1, from + 1 + context, batch.targets.begin() + row * context);
}

void Shape(Index rows, Index context, Batch& batch) {
  batch.inputs.resize(static_cast<std::size_t>(rows * context));
  batch.targets.resize(static_cast<std::size_t>(rows * context));
}

void Seal(Index counted, Batch& batch) {
  batch.tokens = counted;
  batch.hash = ContentHash(std::as_bytes(std::span(batch.targets)),
                           ContentHash(std::as_bytes(std::span(batch.inputs))));
}

Index WindowsIn(const std::string& split, std::size_t tokens, Index context) {
  RequireWindow(split, tokens, context);
  return (static_cast<Index>(tokens) - 1) / context;
}

}  // namespace

void RequireWindow(const std::string& split, std::size_t tokens, Index context) {
  if (context < 1) throw Error(fmt::format("context {} is not a window: need at least 1 token", context));
  if (static_cast<Index>(tokens) > context) return;
  throw Error(fmt::format("{} split has no window of context + 1 tokens: {} tokens, need at least {}", split,
                          tokens, context + 1));
}

BatchStream::BatchStream(std::span<const std::uint32_t> tokens, Index batch, Index context,
                         std::uint64_t seed)
    : tokens_(tokens),
      batch_(batch),
      context_(context),
      seed_(seed),
      order_(static_cast<std::size_t>(WindowsIn("training", tokens.size(), context))) {}

void BatchStream::StartEpoch(Index epoch) {
  if (epoch == epoch_) return;
  epoch_ = epoch;
  Stream stream(seed_, "data", static_cast<std::uint64_t>(epoch));
  const Index remainder = (static_cast<Index>(tokens_.size()) - 1) % context_;
  offset_ = static_cast<Index>(stream.Below(static_cast<std::uint64_t>(remainder) + 1));
  std::iota(order_.begin(), order_.end(), 0u);
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[stream.Below(i)]);
}

void BatchStream::Fill(Index sequence, Batch& batch) {
  Shape(batch_, context_, batch);
  for (Index row = 0; row < batch_; ++row) {
    const Index window = sequence * batch_ + row;
    StartEpoch(window / windows());
    const Index place = order_[static_cast<std::size_t>(window % windows())];
    CopyWindow(tokens_, offset_ + place * context_, context_, row, batch);
  }
  Seal(batch_ * context_, batch);
}

EvalWindows::EvalWindows(std::span<const std::uint32_t> tokens, Index batch, Index context, Index sequences)
    : tokens_(tokens),
      batch_(batch),
      context_(context),
      sequences_(std::min(sequences, WindowsIn("validation", tokens.size(), context))) {}

void EvalWindows::Fill(Index index, Batch& batch) const {
  Shape(batch_, context_, batch);
  const Index first = index * batch_;
  const Index rows = std::clamp<Index>(sequences_ - first, 0, batch_);
  // The last start of all; starts are at least T apart because sequences · T <= N - 1.
  const Index last = static_cast<Index>(tokens_.size()) - 1 - context_;
  for (Index row = 0; row < rows; ++row) {
    const Index start = sequences_ == 1 ? 0 : (first + row) * last / (sequences_ - 1);
    CopyWindow(tokens_, start, context_, row, batch);
  }
  std::fill(batch.inputs.begin() + rows * context_, batch.inputs.end(), 0);
  std::fill(batch.targets.begin() + rows * context_, batch.targets.end(), -1);
  Seal(rows * context_, batch);
}

}  // namespace dark
