#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace dark {

// Files by path. Every function throws Error(kFailed) with path and cause.

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

/// Repeats a system call that a signal interrupted.
template <class Call>
auto Retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Opens for reading.
FileDescriptor OpenToRead(const std::string& path);
/// The same; an empty descriptor when there is no such file.
FileDescriptor OpenIfExists(const std::string& path);
/// All bytes of a file, of any kind.
std::string ReadFile(const std::string& path);
/// Everything from `offset` to the end of a regular file as it is now.
std::vector<std::byte> ReadFrom(const FileDescriptor& file, off_t offset, const std::string& path);
/// Writes all `bytes` at `offset`. The Error of a full disk says how many bytes are needed and how many free.
void WriteAt(const FileDescriptor& file, off_t offset, std::span<const std::byte> bytes,
             const std::string& path);

/// Creates the folder and those above it.
void MakeFolders(const std::string& path);
/// The folder that holds `path`.
std::string FolderOf(const std::string& path);

}  // namespace dark
