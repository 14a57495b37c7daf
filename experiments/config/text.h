#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dark {

/// Length of the longest beginning of `text` that is valid UTF-8 (no overlong forms, no surrogates, at most
/// U+10FFFF): the size of the text when all of it is.
std::size_t ValidUtf8Prefix(std::string_view text);

/// The texts with ", " between them.
std::string Join(const std::vector<std::string>& texts);

}  // namespace dark
