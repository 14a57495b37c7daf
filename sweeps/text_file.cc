#include "sweeps/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/error.h"

namespace dark {
namespace {

constexpr std::size_t kLongestTail = 16384;

[[noreturn]] void Fail(const char* what, const std::string& path, int error) {
  throw Error(fmt::format("cannot {} {}: {}", what, path, std::strerror(error)), Exit::kFailed);
}

/// A file descriptor that is closed at the end; -1 when the file did not open.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

void WriteAll(int fd, const std::string& text, const std::string& path) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(fd, text.data() + done, text.size() - done);
    if (wrote < 0 && errno != EINTR) Fail("write", path, errno);
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
  }
}

}  // namespace

std::string ReadTextFile(const std::string& path) {
  const Descriptor file(path, O_RDONLY);
  if (file.get() < 0) Fail("read", path, errno);
  std::string text;
  char buffer[16384];
  while (true) {
    const ssize_t got = read(file.get(), buffer, sizeof buffer);
    if (got == 0) return text;
    if (got < 0 && errno != EINTR) Fail("read", path, errno);
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  }
}

void WriteTextFile(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp";
  {
    const Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
    if (file.get() < 0) Fail("create", temporary, errno);
    WriteAll(file.get(), text, temporary);
    if (fsync(file.get()) != 0) Fail("sync", temporary, errno);
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) Fail("replace", path, errno);
}

std::size_t AppendTextFile(const std::string& path, const std::string& text) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_APPEND);
  if (file.get() < 0) Fail("open", path, errno);
  WriteAll(file.get(), text, path);
  return static_cast<std::size_t>(lseek(file.get(), 0, SEEK_CUR));
}

std::string FileTail(const std::string& path, std::size_t from, int lines) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const auto size = static_cast<std::size_t>(file.tellg());
  const std::size_t start = std::max(from, size > kLongestTail ? size - kLongestTail : 0);
  if (start >= size) return "";
  std::string text(size - start, '\0');
  file.seekg(static_cast<std::streamoff>(start));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t cut = text.size();
  for (int line = 0; line < lines && cut != std::string::npos && cut > 0; ++line)
    cut = text.rfind('\n', cut - 1);
  return cut == std::string::npos || cut == 0 ? text : text.substr(cut + 1);
}

void MakeFolders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) Fail("create", path, error.value());
}

}  // namespace dark
