#include "core/tape/lifetimes.h"

#include <algorithm>

namespace dark {

std::vector<Index> PlaceByLifetime(const std::vector<Lifetime>& blocks) {
  std::vector<Index> offsets;
  for (const Lifetime& block : blocks) {
    std::vector<std::pair<Index, Index>> taken;  // [begin, end) of blocks that are needed at the same time
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (blocks[i].first <= block.last && block.first <= blocks[i].last)
        taken.emplace_back(offsets[i], offsets[i] + blocks[i].size);
    }
    std::sort(taken.begin(), taken.end());
    Index offset = 0;
    for (const auto& [begin, end] : taken) {
      if (begin - offset >= block.size) break;
      offset = std::max(offset, end);
    }
    offsets.push_back(offset);
  }
  return offsets;
}

}  // namespace dark
