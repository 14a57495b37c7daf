#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/setting.h"

namespace dark {

/// One micro-batch. Target t of a window is its token t+1.
struct Batch {
  std::vector<std::int32_t> inputs;   ///< [batch × context] token ids
  std::vector<std::int32_t> targets;  ///< the same shape; -1 = not counted
  Index tokens = 0;                   ///< counted targets
  std::uint64_t hash = 0;             ///< of inputs and targets
};

/// Training windows in shuffled order, a pure function of (seed, position). Epoch e takes all W =
/// (N - 1) / T disjoint windows, starting at a random offset within the remainder, in a random order; both
/// are drawn from stream ("data", e). Within an epoch every token is an input at most once and a target at
/// most once. The run's windows are numbered through the epochs, so an epoch may begin inside a batch, and a
/// batch of more than W windows takes several.
class BatchStream {
 public:
  /// `tokens` must outlive the stream. Throws Error(kUsage) when not one window of context + 1 tokens fits.
  BatchStream(std::span<const std::uint32_t> tokens, Index batch, Index context, std::uint64_t seed);

  /// Fills micro-batch `sequence` = 0, 1, 2, … of the run, in any order; cheap within an epoch. Allocates
  /// only when `batch` is not yet of this shape.
  void Fill(Index sequence, Batch& batch);
  /// Windows an epoch.
  Index windows() const { return static_cast<Index>(order_.size()); }

 private:
  void StartEpoch(Index epoch);

  std::span<const std::uint32_t> tokens_;
  Index batch_, context_;
  std::uint64_t seed_;
  Index epoch_ = -1;  // of offset_ and order_
  Index offset_ = 0;
  std::vector<std::uint32_t> order_;
};

/// Fixed validation windows: `sequences` disjoint windows (all there are, if fewer) evenly spread over the
/// split, in micro-batches of `batch`; the last is filled up with rows whose targets are all -1.
class EvalWindows {
 public:
  /// `tokens` must outlive the windows. Throws Error(kUsage) when not one window of context + 1 tokens fits.
  EvalWindows(std::span<const std::uint32_t> tokens, Index batch, Index context, Index sequences);

  Index batches() const { return (sequences_ + batch_ - 1) / batch_; }
  Index sequences() const { return sequences_; }
  void Fill(Index index, Batch& batch) const;

 private:
  std::span<const std::uint32_t> tokens_;
  Index batch_, context_, sequences_;
};

/// Throws Error(kUsage) that names `split` and the counts unless a window of context + 1 tokens fits.
void RequireWindow(const std::string& split, std::size_t tokens, Index context);

}  // namespace dark
