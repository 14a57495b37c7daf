#include "experiments/run_file/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "core/random.h"

namespace dark {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kSuffix = ".tmp";

template <class Call>
auto Retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

std::string SpaceText(const FileDescriptor& file, std::size_t needed) {
  struct statvfs disk {};
  if (::fstatvfs(file.get(), &disk) != 0) return fmt::format("{} bytes needed", needed);
  return fmt::format("{} bytes needed, {} free on the disk", needed,
                     static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize);
}

void Sync(const FileDescriptor& file, const std::string& path) {
  if (Retry([&] { return ::fsync(file.get()); }) != 0) throw FileError(path, "sync");
}

void SyncFolder(const std::string& folder) {
  const FileDescriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file) throw FileError(folder, "open");
  // Some network file systems cannot sync a folder and say EINVAL; they order renames themselves.
  if (Retry([&] { return ::fsync(file.get()); }) != 0 && errno != EINVAL) throw FileError(folder, "sync");
}

/// A temporary beside `path`, removed unless renamed. Its maker holds a shared flock on it while alive, which
/// is how a dead maker's file is told from one in use without trusting pids or clocks. Shared, because h5py
/// takes a shared lock too and may open the file the moment it has been renamed.
class Temporary {
 public:
  explicit Temporary(const std::string& path) {
    while (!Make(path)) {
    }
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  const FileDescriptor& file() const { return file_; }
  void RenameTo(const std::string& path) {
    if (::rename(name_.c_str(), path.c_str()) != 0) throw FileError(path, "replace");
    name_.clear();
  }

 private:
  bool Make(const std::string& path) {
    static std::atomic<std::uint64_t> count{0};
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    const std::uint64_t unique = Mix(Mix(static_cast<std::uint64_t>(now) ^ ++count) ^ ::getpid());
    const std::string name = fmt::format("{}.{:016x}{}", path, unique, kSuffix);
    file_ = FileDescriptor(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!file_ && errno == EEXIST) return false;
    if (!file_) throw FileError(path, "create a temporary beside it");
    name_ = name;
    // Between open and flock another process may have taken the file for a dead one's and removed it.
    struct stat status {};
    const bool locked = ::flock(file_.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    return locked && ::fstat(file_.get(), &status) == 0 && status.st_nlink > 0;
  }

  std::string name_;
  FileDescriptor file_;
};

}  // namespace

Error FileError(const std::string& path, const std::string& action) {
  return Error(fmt::format("{}: cannot {}: {}", path, action, std::generic_category().message(errno)),
               Exit::kFailed);
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

FileDescriptor OpenIfExists(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno != ENOENT) throw FileError(path, "open");
  return file;
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

void ReplaceFile(const std::string& path, std::span<const std::byte> content) {
  RemoveStaleTemporaries(path);
  Temporary temporary(path);
  WriteAt(temporary.file(), 0, content, path);
  Sync(temporary.file(), path);
  temporary.RenameTo(path);
  SyncFolder(FolderOf(path));
}

void RemoveStaleTemporaries(const std::string& path) {
  const std::string prefix = fs::path(path).filename().string() + ".";
  std::error_code ignored;  // a folder that cannot be listed fails with a better message when written to
  for (const fs::directory_entry& entry : fs::directory_iterator(FolderOf(path), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() != prefix.size() + 16 + kSuffix.size() || !name.starts_with(prefix) ||
        !name.ends_with(kSuffix))
      continue;
    const FileDescriptor file(::open(entry.path().c_str(), O_RDWR | O_CLOEXEC));
    if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(entry.path().c_str());
  }
}

std::string FolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace dark
