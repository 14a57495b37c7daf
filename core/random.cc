#include "core/random.h"

#include <cmath>
#include <numbers>

namespace dark {
namespace {

std::array<std::uint32_t, 4> Philox(std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> k) {
  constexpr std::uint64_t kMul0 = 0xD2511F53, kMul1 = 0xCD9E8D57;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = kMul0 * c[0], p1 = kMul1 * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p0)};
    k[0] += 0x9E3779B9;
    k[1] += 0xBB67AE85;
  }
  return c;
}

}  // namespace

std::uint64_t HashName(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return Mix(hash);
}

Stream::Stream(std::uint64_t seed, std::string_view name, std::uint64_t index) {
  const std::uint64_t key = Mix(seed ^ HashName(name));
  const std::uint64_t high = Mix(index ^ Mix(HashName(name)));
  key_ = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
  high_ = {static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)};
}

void Stream::Seek(std::uint64_t position) { position_ = position; }

void Stream::Refill() {
  block_index_ = position_ / 4;
  block_ = Philox({static_cast<std::uint32_t>(block_index_), static_cast<std::uint32_t>(block_index_ >> 32),
                   high_[0], high_[1]},
                  key_);
}

std::uint32_t Stream::Bits() {
  if (position_ / 4 != block_index_) Refill();
  return block_[position_++ % 4];
}

std::uint64_t Stream::Bits64() {
  const std::uint64_t low = Bits();
  return low | static_cast<std::uint64_t>(Bits()) << 32;
}

double Stream::Uniform() { return (static_cast<double>(Bits64() >> 11) + 0.5) * 0x1.0p-53; }

std::uint64_t Stream::Below(std::uint64_t n) {
  const std::uint64_t limit = ~std::uint64_t{0} - (~std::uint64_t{0} % n + 1) % n;
  for (;;) {
    const std::uint64_t bits = Bits64();
    if (bits <= limit) return bits % n;
  }
}

double Stream::Normal() {
  const double radius = std::sqrt(-2 * std::log(Uniform()));
  return radius * std::cos(2 * std::numbers::pi * Uniform());
}

template <class T>
void Stream::Normals(std::span<T> out) {
  for (std::size_t i = 0; i < out.size(); i += 2) {
    const double radius = std::sqrt(-2 * std::log(Uniform()));
    const double angle = 2 * std::numbers::pi * Uniform();
    out[i] = static_cast<T>(radius * std::cos(angle));
    if (i + 1 < out.size()) out[i + 1] = static_cast<T>(radius * std::sin(angle));
  }
}
template void Stream::Normals<float>(std::span<float>);
template void Stream::Normals<double>(std::span<double>);

}  // namespace dark
