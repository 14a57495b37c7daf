#include "experiments/run_file/checksum.h"

#include <cstring>

namespace dark {
namespace {

// Bijective in `sum` and in `word`: two inputs that differ in one word only can never meet again.
std::uint64_t Fold(std::uint64_t sum, std::uint64_t word) {
  sum = (sum ^ word) * 0x9fb21c651e98df25u;
  return sum ^ (sum >> 32);
}

}  // namespace

std::uint64_t Checksum(std::span<const std::byte> bytes, std::uint64_t seed) {
  std::uint64_t sum = Fold(Fold(0x6461726b666f726du, seed), bytes.size());
  std::uint64_t word = 0;
  for (; bytes.size() >= sizeof word; bytes = bytes.subspan(sizeof word)) {
    std::memcpy(&word, bytes.data(), sizeof word);
    sum = Fold(sum, word);
  }
  word = 0;
  if (!bytes.empty()) std::memcpy(&word, bytes.data(), bytes.size());
  return Fold(sum, word);
}

}  // namespace dark
