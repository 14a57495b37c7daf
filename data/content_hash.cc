#include "data/content_hash.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "core/random.h"

namespace dark {

static_assert(std::endian::native == std::endian::little,
              "hashes and shards are defined on little-endian words");

// Mix is a bijection, so two texts that differ in one word always differ in the hash. Four independent chains
// hide its latency; one chain would be four times slower.
std::uint64_t ContentHash(std::span<const std::byte> bytes, std::uint64_t seed) {
  std::uint64_t chains[4] = {seed, Mix(seed), Mix(seed + 1), Mix(seed + 2)};
  std::uint64_t words[4];
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= sizeof words; left -= sizeof words, at += sizeof words) {
    std::memcpy(words, at, sizeof words);
    for (int i = 0; i < 4; ++i) chains[i] = Mix(chains[i] ^ words[i]);
  }
  std::memset(words, 0, sizeof words);
  if (left > 0) std::memcpy(words, at, left);
  std::uint64_t hash = Mix(bytes.size());  // tells "a" from "a\0"
  for (int i = 0; i < 4; ++i) hash = Mix(hash ^ Mix(chains[i] ^ words[i]));
  return hash;
}

std::uint64_t ContentHash(std::string_view bytes, std::uint64_t seed) {
  return ContentHash(std::as_bytes(std::span(bytes)), seed);
}

std::string Hex(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace dark
