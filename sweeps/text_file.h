#pragma once

#include <string>

namespace dark {

/// The whole file. Throws Error(kFailed) with path and errno text.
std::string ReadTextFile(const std::string& path);
/// Replaces the file as a whole: written beside it, synced, renamed, so that a kill leaves the old or the new
/// one. Throws Error(kFailed) with path and errno text.
void WriteTextFile(const std::string& path, const std::string& text);
/// Adds `text` at the end of the file; returns the file's bytes then. Throws Error(kFailed) with path and
/// errno text.
std::size_t AppendTextFile(const std::string& path, const std::string& text);
/// The last `lines` lines that were written after byte `from`, of at most the last 16 KiB; "" for no file.
std::string FileTail(const std::string& path, std::size_t from, int lines);
/// Creates the folder and those above it. Throws Error(kFailed) with path and errno text.
void MakeFolders(const std::string& path);

}  // namespace dark
