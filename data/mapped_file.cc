#include "data/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <utility>

#include "core/files/file.h"

namespace dark {

MappedFile::MappedFile(const std::string& path) {
  const FileDescriptor fd = OpenToRead(path);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) throw FileError(path, "read");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return;
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (address == MAP_FAILED) throw FileError(path, "map");
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
