#include "sweeps/log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "core/files/file.h"

namespace dark {
namespace {

constexpr std::size_t kLongestTail = 16384;

}  // namespace

std::size_t AppendToLog(const std::string& path, const std::string& text) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!file) throw FileError(path, "open");
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = Retry([&] { return ::write(file.get(), text.data() + done, text.size() - done); });
    if (wrote < 0) throw FileError(path, "write");
    done += static_cast<std::size_t>(wrote);
  }
  return static_cast<std::size_t>(::lseek(file.get(), 0, SEEK_CUR));
}

std::string LogTail(const std::string& path, std::size_t from, int lines) {
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

}  // namespace dark
