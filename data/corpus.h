#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace dark {

/// Stands between the documents of a folder: one empty line.
inline constexpr const char* kDocumentSeparator = "\n\n";

/// The bytes of a text file, unchanged; or those of all regular files below a folder, in the byte order of
/// their relative paths, with kDocumentSeparator between them. Empty files and hidden files and folders
/// (".git") are left out. Throws Error(kUsage) with path and counts for what is missing, unreadable, neither
/// file nor folder, or holds nothing but white space.
std::string ReadCorpus(const std::string& path);

/// What tells one text from another.
struct CorpusMark {
  std::uint64_t hash = 0;  ///< ContentHash of what ReadCorpus returns
  std::size_t bytes = 0;
};

/// Reads like ReadCorpus, and fails like it, but keeps nothing in memory: a run whose tokens are prepared
/// needs no more of its text.
CorpusMark MarkCorpus(const std::string& path);

}  // namespace dark
