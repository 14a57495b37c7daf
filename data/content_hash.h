#pragma once

#include <array>
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

/// The same hash of bytes that come in parts, however they are cut.
class ContentHasher {
 public:
  explicit ContentHasher(std::uint64_t seed = 0);
  void Add(std::span<const std::byte> bytes);
  void Add(std::string_view bytes);
  std::uint64_t Value() const;

 private:
  static constexpr std::size_t kChains = 4;
  using Words = std::array<std::uint64_t, kChains>;

  void AddWhole(const std::byte* at, std::size_t groups);

  Words chains_;
  Words rest_{};  // bytes that do not yet make a word for each chain; the others are 0
  std::uint64_t size_ = 0;
};

/// 16 lower-case hex digits.
std::string Hex(std::uint64_t hash);

}  // namespace dark
