#include "data/split.h"

#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace dark {
namespace {

constexpr std::size_t kStretches = 16;
constexpr std::size_t kSmallestBlock = 4096;  // bytes held out in one place, before stretches get fewer

void AddPiece(std::string_view piece, std::vector<std::string_view>& to) {
  if (!piece.empty()) to.push_back(piece);
}

}  // namespace

Split SplitText(std::string_view text, std::uint64_t data_hash, double val_fraction) {
  const auto held_out =
      static_cast<std::size_t>(std::llround(val_fraction * static_cast<double>(text.size())));
  const std::size_t stretches = std::clamp<std::size_t>(held_out / kSmallestBlock, 1, kStretches);
  Stream stream(data_hash, "split");
  Split split;
  split.hash = Mix(data_hash);
  for (std::size_t i = 0; i < stretches; ++i) {
    const std::size_t begin = text.size() * i / stretches, end = text.size() * (i + 1) / stretches;
    const std::size_t size = held_out * (i + 1) / stretches - held_out * i / stretches;
    const std::size_t block = begin + stream.Below(end - begin - size + 1);
    AddPiece(text.substr(begin, block - begin), split.train);
    AddPiece(text.substr(block, size), split.validation);
    AddPiece(text.substr(block + size, end - block - size), split.train);
    split.hash = Mix(Mix(split.hash ^ block) ^ size);
  }
  return split;
}

}  // namespace dark
