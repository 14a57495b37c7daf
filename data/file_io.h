#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace dark {

/// All bytes of a file. Throws Error(kFailed) with path and errno text.
std::string ReadFile(const std::string& path);

/// Writes the parts one after the other under a temporary name in the same folder, syncs, renames over `path`
/// and syncs the folder: readers see the old file or the whole new one, and two writers both succeed.
/// Throws Error(kFailed) with path, bytes needed and errno text, and leaves no temporary file.
void WriteFileAtomically(const std::string& path, const std::vector<std::span<const std::byte>>& parts);

/// A file mapped read-only; an empty file maps to no bytes. Throws Error(kFailed) with path and errno text.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace dark
