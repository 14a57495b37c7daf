#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace dark {

/// A named random stream: counter-based Philox 4x32-10 (Salmon et al., SC 2011) keyed by seed, name and
/// index. Streams with different (seed, name, index) are independent, whatever order or thread they are drawn
/// in, so initial weights, data order and base draws do not depend on which variant is built or on thread
/// count. `position` is the whole state: a stream is restored by constructing it again and seeking.
class Stream {
 public:
  Stream(std::uint64_t seed, std::string_view name, std::uint64_t index = 0);

  std::uint64_t position() const { return position_; }
  void Seek(std::uint64_t position);

  /// 32 uniform random bits; one step of the position.
  std::uint32_t Bits();
  /// 64 uniform random bits; two steps of the position.
  std::uint64_t Bits64();
  /// Uniform in (0, 1), never 0 or 1; 53 bits.
  double Uniform();
  /// Uniform in {0, …, n-1} without modulo bias; n >= 1.
  std::uint64_t Below(std::uint64_t n);
  /// Standard normal by Box–Muller, both values of a pair used within `Normals` only.
  double Normal();
  /// Fills `out` with standard normals.
  template <class T>
  void Normals(std::span<T> out);

 private:
  void Refill();

  std::array<std::uint32_t, 2> key_{};
  std::array<std::uint32_t, 2> high_{};  // upper half of the counter: separates names and indices
  std::uint64_t position_ = 0;           // in 32-bit words
  std::array<std::uint32_t, 4> block_{};
  std::uint64_t block_index_ = ~std::uint64_t{0};
};

/// The splitmix64 finaliser: a bijective mix of 64 bits. Inline, because hashes of content take one a word.
inline std::uint64_t Mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}
/// FNV-1a over the bytes, then Mix: for names, not for content.
std::uint64_t HashName(std::string_view name);

}  // namespace dark
