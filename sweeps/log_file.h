#pragma once

#include <string>

namespace dark {

/// Adds `text` at the end of the file; returns the file's bytes then. Throws Error(kFailed) with path and
/// errno text.
std::size_t AppendToLog(const std::string& path, const std::string& text);
/// The last `lines` lines that were written after byte `from`, of at most the last 16 KiB; "" for no file.
std::string LogTail(const std::string& path, std::size_t from, int lines);

}  // namespace dark
