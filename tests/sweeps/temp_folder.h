#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace dark {

/// A folder of its own for one test, removed at the end. In memory where there is such a place: kills need no
/// disk, and the many syncs of runs that last 50 ms would wait for one.
class TempFolder {
 public:
  TempFolder() {
    path_ = "/dev/shm/dark-sweeps-XXXXXX";
    if (mkdtemp(path_.data()) != nullptr) return;
    path_ = (std::filesystem::temp_directory_path() / "dark-sweeps-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string Write(const std::string& name, const std::string& text) const {
    const std::string file = path_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

 private:
  std::string path_;
};

}  // namespace dark
