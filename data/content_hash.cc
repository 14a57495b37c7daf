#include "data/content_hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/random.h"

namespace dark {

static_assert(std::endian::native == std::endian::little,
              "hashes and shards are defined on little-endian words");

namespace {

std::uint64_t WordAt(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

}  // namespace

// Mix is a bijection, so two texts that differ in one word always differ in the hash. Four independent chains
// hide its latency; one chain would be four times slower.
ContentHasher::ContentHasher(std::uint64_t seed) : chains_{seed, Mix(seed), Mix(seed + 1), Mix(seed + 2)} {}

// Four variables and not an array, so that they stay in registers. CMakeLists.txt forbids the compiler to
// make a vector of them: its multiplication (vpmullq) takes five times as long as one of a word, and each
// waits for the last.
void ContentHasher::AddWhole(const std::byte* at, std::size_t groups) {
  auto [a, b, c, d] = chains_;
  for (; groups > 0; --groups, at += sizeof chains_) {
    a = Mix(a ^ WordAt(at));
    b = Mix(b ^ WordAt(at + 8));
    c = Mix(c ^ WordAt(at + 16));
    d = Mix(d ^ WordAt(at + 24));
  }
  chains_ = {a, b, c, d};
}

void ContentHasher::Add(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const std::size_t waiting = size_ % sizeof rest_;
  size_ += bytes.size();
  if (waiting > 0) {
    const auto first = bytes.first(std::min(sizeof rest_ - waiting, bytes.size()));
    std::memcpy(reinterpret_cast<std::byte*>(rest_.data()) + waiting, first.data(), first.size());
    bytes = bytes.subspan(first.size());
    if (waiting + first.size() < sizeof rest_) return;
    AddWhole(reinterpret_cast<const std::byte*>(rest_.data()), 1);
    rest_ = {};
  }
  const std::size_t groups = bytes.size() / sizeof rest_;
  AddWhole(bytes.data(), groups);
  bytes = bytes.subspan(groups * sizeof rest_);
  if (!bytes.empty()) std::memcpy(rest_.data(), bytes.data(), bytes.size());
}

void ContentHasher::Add(std::string_view bytes) { Add(std::as_bytes(std::span(bytes))); }

std::uint64_t ContentHasher::Value() const {
  std::uint64_t hash = Mix(size_);  // tells "a" from "a\0"
  for (std::size_t i = 0; i < kChains; ++i) hash = Mix(hash ^ Mix(chains_[i] ^ rest_[i]));
  return hash;
}

std::uint64_t ContentHash(std::span<const std::byte> bytes, std::uint64_t seed) {
  ContentHasher hasher(seed);
  hasher.Add(bytes);
  return hasher.Value();
}

std::uint64_t ContentHash(std::string_view bytes, std::uint64_t seed) {
  return ContentHash(std::as_bytes(std::span(bytes)), seed);
}

std::string Hex(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace dark
