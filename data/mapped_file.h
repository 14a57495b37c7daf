#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace dark {

/// A file mapped read-only; an empty file maps to no bytes. Throws Error(kFailed) with path and cause.
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
