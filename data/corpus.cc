#include "data/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/error.h"
#include "core/files/file.h"

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

std::string ReadFolder(const fs::path& folder) {
  const std::vector<std::string> files = FilesBelow(folder);
  if (files.empty()) throw Error(fmt::format("text folder {} has no files", folder.string()));
  std::string text;
  for (const std::string& file : files) {
    const std::string document = ReadFile((folder / file).string());
    if (document.empty()) continue;
    if (!text.empty()) text += kDocumentSeparator;
    text += document;
  }
  if (text.empty())
    throw Error(fmt::format("text folder {} is empty: {} files, 0 bytes", folder.string(), files.size()));
  return text;
}

std::string ReadText(const std::string& path) {
  const fs::file_status status = fs::status(path);
  if (!fs::exists(status)) throw Error(fmt::format("text {} does not exist", path));
  if (fs::is_directory(status)) return ReadFolder(path);
  if (!fs::is_regular_file(status)) throw Error(fmt::format("text {} is neither a file nor a folder", path));
  std::string text = ReadFile(path);
  if (text.empty()) throw Error(fmt::format("text file {} is empty: 0 bytes", path));
  return text;
}

}  // namespace

std::string ReadCorpus(const std::string& path) {
  if (path.empty()) throw Error("no text given: data.text must name a file or folder of plain text");
  std::string text;
  try {
    text = ReadText(path);
  } catch (const Error& error) {
    throw Error(error.what(), Exit::kUsage);  // also a file that cannot be read: another text is needed
  } catch (const fs::filesystem_error& error) {
    throw Error(fmt::format("cannot read text {}: {}", path, error.code().message()));
  }
  if (text.find_first_not_of(" \t\n\v\f\r") == std::string::npos)
    throw Error(fmt::format("text {} is only white space: {} bytes", path, text.size()));
  return text;
}

}  // namespace dark
