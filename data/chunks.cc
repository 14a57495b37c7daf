#include "data/chunks.h"

#include <algorithm>
#include <array>

namespace dark {
namespace {

enum class Kind : char { kPunctuation, kLetter, kDigit, kSpace };

// A table of our own, because isalpha and friends depend on the locale.
constexpr std::array<Kind, 256> kKinds = [] {
  std::array<Kind, 256> kinds{};
  for (int byte = 0; byte < 256; ++byte) {
    if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte >= 0x80)
      kinds[byte] = Kind::kLetter;
    else if (byte >= '0' && byte <= '9')
      kinds[byte] = Kind::kDigit;
    else if (byte == ' ' || (byte >= '\t' && byte <= '\r'))
      kinds[byte] = Kind::kSpace;
  }
  return kinds;
}();

Kind KindOf(char byte) { return kKinds[static_cast<unsigned char>(byte)]; }

bool ContinuesUtf8(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

std::size_t ChunkEnd(std::string_view bytes, std::size_t start) {
  std::size_t end = start;
  if (bytes[start] == ' ' && start + 1 < bytes.size() && KindOf(bytes[start + 1]) != Kind::kSpace) ++end;
  const Kind kind = KindOf(bytes[end]);
  const std::size_t limit = std::min(bytes.size(), start + kMaxChunk);
  while (end < limit && KindOf(bytes[end]) == kind) ++end;
  if (end == bytes.size()) return end;

  if (kind == Kind::kSpace) {  // the last blank before a word belongs to the word
    const bool before_word = bytes[end - 1] == ' ' && KindOf(bytes[end]) != Kind::kSpace;
    return before_word && end - start > 1 ? end - 1 : end;
  }
  if (end == limit) {  // cut between characters, not within one; at most three steps, for invalid text
    std::size_t cut = end;
    while (end - cut < 3 && ContinuesUtf8(bytes[cut])) --cut;
    if (!ContinuesUtf8(bytes[cut])) end = cut;
  }
  return end;
}

}  // namespace dark
