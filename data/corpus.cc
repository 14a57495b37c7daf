#include "data/corpus.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/files/file.h"
#include "data/content_hash.h"

namespace dark {
namespace {

namespace fs = std::filesystem;

bool Hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

std::vector<std::string> FilesBelow(const fs::path& folder) {
  std::vector<std::string> files;
  for (auto at = fs::recursive_directory_iterator(folder); at != fs::recursive_directory_iterator(); ++at) {
    if (Hidden(at->path()))
      at.disable_recursion_pending();
    else if (at->is_regular_file())
      files.push_back(at->path().lexically_relative(folder).generic_string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Passes a text on, block by block, and counts.
class Reader {
 public:
  explicit Reader(const std::function<void(std::string_view)>& use) : use_(use), block_(kBlock) {}

  std::size_t bytes() const { return bytes_; }
  bool blank() const { return blank_; }

  void Read(const std::string& path) {
    const fs::file_status status = fs::status(path);
    if (!fs::exists(status)) throw Error(fmt::format("text {} does not exist", path));
    if (fs::is_directory(status)) return ReadFolder(path);
    if (!fs::is_regular_file(status))
      throw Error(fmt::format("text {} is neither a file nor a folder", path));
    ReadDocument(path);
    if (bytes_ == 0) throw Error(fmt::format("text file {} is empty: 0 bytes", path));
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 18;  // stays in the second-level cache

  void ReadFolder(const fs::path& folder) {
    const std::vector<std::string> files = FilesBelow(folder);
    if (files.empty()) throw Error(fmt::format("text folder {} has no files", folder.string()));
    for (const std::string& file : files) ReadDocument((folder / file).string());
    if (bytes_ == 0)
      throw Error(fmt::format("text folder {} is empty: {} files, 0 bytes", folder.string(), files.size()));
  }

  void ReadDocument(const std::string& path) {
    const FileDescriptor file = OpenToRead(path);
    for (bool separate = bytes_ > 0;; separate = false) {
      const ssize_t got = Retry([&] { return ::read(file.get(), block_.data(), block_.size()); });
      if (got < 0) throw FileError(path, "read");
      if (got == 0) return;
      if (separate) Use(kDocumentSeparator);
      Use({block_.data(), static_cast<std::size_t>(got)});
    }
  }

  void Use(std::string_view bytes) {
    blank_ = blank_ && bytes.find_first_not_of(" \t\n\v\f\r") == std::string_view::npos;
    bytes_ += bytes.size();
    use_(bytes);
  }

  const std::function<void(std::string_view)>& use_;
  std::vector<char> block_;
  std::size_t bytes_ = 0;
  bool blank_ = true;  // nothing but white space so far
};

// The bytes passed on.
std::size_t ForEachBlock(const std::string& path, const std::function<void(std::string_view)>& use) {
  if (path.empty()) throw Error("no text given: data.text must name a file or folder of plain text");
  Reader reader(use);
  try {
    reader.Read(path);
  } catch (const Error& error) {
    throw Error(error.what(), Exit::kUsage);  // also a file that cannot be read: another text is needed
  } catch (const fs::filesystem_error& error) {
    throw Error(fmt::format("cannot read text {}: {}", path, error.code().message()));
  }
  if (reader.blank()) throw Error(fmt::format("text {} is only white space: {} bytes", path, reader.bytes()));
  return reader.bytes();
}

}  // namespace

std::string ReadCorpus(const std::string& path) {
  std::string text;
  std::error_code no_file;
  const std::uintmax_t size = fs::file_size(path, no_file);
  if (!no_file) text.reserve(size);
  ForEachBlock(path, [&](std::string_view block) { text += block; });
  return text;
}

CorpusMark MarkCorpus(const std::string& path) {
  ContentHasher hasher;
  const std::size_t bytes = ForEachBlock(path, [&](std::string_view block) { hasher.Add(block); });
  return {hasher.Value(), bytes};
}

}  // namespace dark
