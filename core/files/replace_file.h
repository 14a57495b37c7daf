#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dark {

/// Makes `parts`, one after the other, the content of `path` in one stroke: temporary name, fsync, rename,
/// fsync of the folder. A reader, a kill or a full disk at any moment sees the old file or the new one, never
/// a mixture; two writers both succeed. Throws Error(kFailed) with path and cause.
void ReplaceFile(const std::string& path, const std::vector<std::span<const std::byte>>& parts);
void ReplaceFile(const std::string& path, std::span<const std::byte> content);
void ReplaceFile(const std::string& path, std::string_view content);

/// Removes temporaries that dead processes left while they replaced `path`; those of living ones stay.
void RemoveStaleTemporaries(const std::string& path);

}  // namespace dark
