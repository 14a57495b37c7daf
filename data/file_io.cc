#include "data/file_io.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/error.h"

namespace dark {
namespace {

[[noreturn]] void Fail(const std::string& what, const std::string& path, int code) {
  throw Error(fmt::format("cannot {} {}: {}", what, path, std::strerror(code)), Exit::kFailed);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Descriptor OpenToRead(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) Fail("open", path, errno);
  return Descriptor(fd);
}

bool WriteAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

// Keeps the rename through a power cut. Some file systems cannot sync a folder, which is no reason to fail.
void SyncFolder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) ::fsync(fd.get());
}

}  // namespace

std::string ReadFile(const std::string& path) {
  const Descriptor fd = OpenToRead(path);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) Fail("read", path, errno);
  // The size is a hint: files of /proc say 0, and a file may grow. One byte more finds the end at once.
  std::string bytes(static_cast<std::size_t>(status.st_size) + 1, '\0');
  std::size_t size = 0;
  for (;;) {
    if (size == bytes.size()) bytes.resize(2 * size + 4096);
    const ssize_t got = ::read(fd.get(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) Fail("read", path, errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

void WriteFileAtomically(const std::string& path, const std::vector<std::span<const std::byte>>& parts) {
  std::string temporary = path + ".XXXXXX";
  const Descriptor fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (fd.get() < 0) Fail("create", path, errno);
  std::size_t size = 0;
  for (const auto part : parts) size += part.size();

  bool ok = ::fchmod(fd.get(), 0644) == 0;  // mkostemp keeps others out; a cache may be shared
  for (const auto part : parts) ok = ok && WriteAll(fd.get(), part);
  ok = ok && ::fsync(fd.get()) == 0 && ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!ok) {
    const int code = errno;
    ::unlink(temporary.c_str());
    Fail(fmt::format("write {} bytes to", size), path, code);
  }
  SyncFolder(path);
}

MappedFile::MappedFile(const std::string& path) {
  const Descriptor fd = OpenToRead(path);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) Fail("read", path, errno);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return;
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (address == MAP_FAILED) Fail("map", path, errno);
  bytes_ = {static_cast<const std::byte*>(address), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace dark
