#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dark {

/// 64-bit checksum of `bytes`, fast enough (GB/s) to be taken of everything we store. Changes within one
/// aligned 8-byte word, so every flipped bit, are always seen; any other damage escapes once in 2^64. Zeros
/// never have checksum 0. Against accidents, not against attackers.
std::uint64_t Checksum(std::span<const std::byte> bytes, std::uint64_t seed = 0);

}  // namespace dark
