#pragma once

#include <string>

namespace dark::analysis {

/// The whole file. Throws Error(kFailed) with path and errno text.
std::string ReadFile(const std::string& path);

/// Replaces `path` by `content` in one step: a reader sees the old or the new file, and a full disk leaves
/// the old one. Creates missing folders. Throws Error(kFailed) with path, size and errno text.
void WriteFileAtomically(const std::string& path, const std::string& content);

}  // namespace dark::analysis
