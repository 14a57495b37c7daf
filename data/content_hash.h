#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dark {

/// 64-bit hash of bytes, several GB/s, the same on every machine. Tells texts, splits and batches apart and
/// finds damage; it does not resist someone who searches for collisions. Hashes of parts chain through
/// `seed`.
std::uint64_t ContentHash(std::span<const std::byte> bytes, std::uint64_t seed = 0);
std::uint64_t ContentHash(std::string_view bytes, std::uint64_t seed = 0);

/// 16 lower-case hex digits.
std::string Hex(std::uint64_t hash);

}  // namespace dark
