#include "core/files/replace_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "core/files/file.h"
#include "core/random.h"

namespace dark {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kSuffix = ".tmp";

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

void ReplaceFile(const std::string& path, const std::vector<std::span<const std::byte>>& parts) {
  RemoveStaleTemporaries(path);
  Temporary temporary(path);
  off_t offset = 0;
  for (const auto part : parts) {
    WriteAt(temporary.file(), offset, part, path);
    offset += static_cast<off_t>(part.size());
  }
  Sync(temporary.file(), path);
  temporary.RenameTo(path);
  SyncFolder(FolderOf(path));
}

void ReplaceFile(const std::string& path, std::span<const std::byte> content) {
  ReplaceFile(path, std::vector{content});
}

void ReplaceFile(const std::string& path, std::string_view content) {
  ReplaceFile(path, std::as_bytes(std::span(content)));
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

}  // namespace dark
