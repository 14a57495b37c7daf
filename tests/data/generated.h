#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/random.h"

namespace dark {

/// `size` bytes, each any of 256.
inline std::string RandomBytes(Stream& stream, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(stream.Below(256));
  return bytes;
}

/// Text of short words over few letters, so that pairs repeat, tie and overlap ("aaa").
inline std::string RandomProse(Stream& stream, std::size_t size) {
  static constexpr std::string_view kLetters = "aaabbc  \n,1";
  std::string text(size, '\0');
  for (char& byte : text) byte = kLetters[stream.Below(kLetters.size())];
  return text;
}

inline std::vector<std::uint32_t> RandomTokens(Stream& stream, std::size_t size, std::uint32_t vocab) {
  std::vector<std::uint32_t> tokens(size);
  for (std::uint32_t& token : tokens) token = static_cast<std::uint32_t>(stream.Below(vocab));
  return tokens;
}

/// 0, 1, 2, …: each token tells its place.
inline std::vector<std::uint32_t> Numbered(std::size_t size) {
  std::vector<std::uint32_t> tokens(size);
  for (std::size_t i = 0; i < size; ++i) tokens[i] = static_cast<std::uint32_t>(i);
  return tokens;
}

/// What `action` throws, "exit: message"; "nothing" when it throws no Error.
template <class Action>
std::string ErrorOf(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.exit())) + ": " + error.what();
  }
  return "nothing";
}

}  // namespace dark
