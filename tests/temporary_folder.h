#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace dark {

/// A folder of its own for one test, removed with all it holds.
class TemporaryFolder {
 public:
  /// kMemory: on a memory disk where there is one, because thousands of syncs take minutes on a busy disk.
  enum class On { kMemory, kDisk };

  explicit TemporaryFolder(On on = On::kMemory) {
    const std::filesystem::path memory = "/dev/shm", disk = std::filesystem::temp_directory_path();
    const bool in_memory = on == On::kMemory && ::access(memory.c_str(), W_OK) == 0;
    path_ = ((in_memory ? memory : disk) / "dark-test-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("mkdtemp: " + path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  /// Writes a file, with the folders it needs; returns its path.
  std::string Write(const std::string& name, const std::string& bytes) const {
    const std::string file = *this / name;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

  /// Files in the folder whose names end in ".tmp".
  int Temporaries() const {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      count += entry.path().extension() == ".tmp";
    return count;
  }

 private:
  std::string path_;
};

}  // namespace dark
