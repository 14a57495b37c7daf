#include "core/files/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace dark {
namespace {

namespace fs = std::filesystem;
std::string SpaceText(const FileDescriptor& file, std::size_t needed) {
  struct statvfs disk {};
  if (::fstatvfs(file.get(), &disk) != 0) return fmt::format("{} bytes needed", needed);
  return fmt::format("{} bytes needed, {} free on the disk", needed,
                     static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize);
}

}  // namespace

Error FileError(const std::string& path, const std::string& action) {
  return Error(fmt::format("{}: cannot {}: {}", path, action, std::generic_category().message(errno)),
               Exit::kFailed);
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

FileDescriptor OpenToRead(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw FileError(path, "open");
  return file;
}

FileDescriptor OpenIfExists(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno != ENOENT) throw FileError(path, "open");
  return file;
}

std::string ReadFile(const std::string& path) {
  const FileDescriptor file = OpenToRead(path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw FileError(path, "read");
  // The size is a hint: files of /proc say 0, and a file may grow. One byte more finds the end at once.
  std::string bytes(static_cast<std::size_t>(status.st_size) + 1, '\0');
  std::size_t size = 0;
  for (;;) {
    if (size == bytes.size()) bytes.resize(2 * size + 4096);
    const ssize_t got = Retry([&] { return ::read(file.get(), bytes.data() + size, bytes.size() - size); });
    if (got < 0) throw FileError(path, "read");
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

std::vector<std::byte> ReadFrom(const FileDescriptor& file, off_t offset, const std::string& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw FileError(path, "read");
  if (!S_ISREG(status.st_mode)) throw Error(path + ": is not a regular file", Exit::kFailed);
  std::vector<std::byte> bytes(status.st_size > offset ? static_cast<std::size_t>(status.st_size - offset)
                                                       : 0);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = Retry([&] {
      return ::pread(file.get(), bytes.data() + done, bytes.size() - done, offset + static_cast<off_t>(done));
    });
    if (got < 0) throw FileError(path, "read");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

void WriteAt(const FileDescriptor& file, off_t offset, std::span<const std::byte> bytes,
             const std::string& path) {
  const std::size_t needed = bytes.size();
  while (!bytes.empty()) {
    const ssize_t written = Retry([&] { return ::pwrite(file.get(), bytes.data(), bytes.size(), offset); });
    if (written < 0) {
      const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
      const Error error = FileError(path, "write");
      throw full ? Error(fmt::format("{} ({})", error.what(), SpaceText(file, needed)), Exit::kFailed)
                 : error;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += written;
  }
}

void MakeFolders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw Error(fmt::format("{}: cannot create: {}", path, error.message()), Exit::kFailed);
}

std::string FolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace dark
