#pragma once

#include <cstddef>
#include <string_view>

namespace dark {

/// Longest chunk in bytes: text without any blank costs no more to tokenise than prose.
inline constexpr std::size_t kMaxChunk = 64;

/// Byte-pair encoding joins bytes within a chunk only. A chunk is a run of letters (every byte above ASCII
/// counts as one), of digits or of punctuation, with the blank before it, or a run of white space. Returns
/// the end of the chunk that starts at `start` < bytes.size(); chunks laid end to end are the text.
std::size_t ChunkEnd(std::string_view bytes, std::size_t start);

/// Calls `use(chunk)` for each chunk in order.
template <class Use>
void ForEachChunk(std::string_view bytes, Use&& use) {
  for (std::size_t start = 0; start < bytes.size();) {
    const std::size_t end = ChunkEnd(bytes, start);
    use(bytes.substr(start, end - start));
    start = end;
  }
}

}  // namespace dark
