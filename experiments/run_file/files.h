#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace dark {

/// "PATH: cannot DO: errno text" as Error(kFailed), for the current errno.
Error FileError(const std::string& path, const std::string& action);

/// Owns a file descriptor.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor();
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// Opens for reading; an empty descriptor when there is no such file. Throws Error for any other failure.
FileDescriptor OpenIfExists(const std::string& path);
/// Everything from `offset` to the end of the file as it is now.
std::vector<std::byte> ReadFrom(const FileDescriptor& file, off_t offset, const std::string& path);
/// Writes all `bytes` at `offset`. The Error of a full disk says how many bytes are needed and how many free.
void WriteAt(const FileDescriptor& file, off_t offset, std::span<const std::byte> bytes,
             const std::string& path);

/// Makes `content` the content of `path` in one stroke: temporary name, fsync, rename, fsync of the folder. A
/// reader, a kill or a full disk at any moment sees the old file or the new one, never a mixture.
void ReplaceFile(const std::string& path, std::span<const std::byte> content);
/// Removes temporaries that dead processes left while they replaced `path`; those of living ones stay.
void RemoveStaleTemporaries(const std::string& path);

/// The folder that holds `path`.
std::string FolderOf(const std::string& path);

}  // namespace dark
