#include <sys/stat.h>

#include <optional>

#include "experiments/run_file/journal.h"
#include "experiments/run_file/run_file.h"
#include "experiments/run_file/run_hdf5.h"

namespace dark {
namespace {

/// Which file stands at a path: another one after every replacement.
struct FileIdentity {
  ino_t inode = 0;  // 0: no file
  std::int64_t changed = 0;
  bool operator==(const FileIdentity&) const = default;
};

FileIdentity IdentityOf(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {status.st_ino, status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec};
}

}  // namespace

struct RunFollower::State {
  std::string path;
  RunData run;
  std::optional<JournalReader> journal;
  FileIdentity hdf5;  ///< the RUN.h5 that `run` came from; none while it comes from the journal
};

RunFollower::RunFollower(std::string path) : state_(std::make_unique<State>()) {
  state_->path = std::move(path);
}
RunFollower::RunFollower(RunFollower&&) noexcept = default;
RunFollower& RunFollower::operator=(RunFollower&&) noexcept = default;
RunFollower::~RunFollower() = default;

const RunData& RunFollower::Poll() {
  State& s = *state_;
  if (!s.journal || !s.journal->Current()) {
    s.journal = JournalReader::Open(JournalPath(s.path));
    if (s.journal) {
      s.run = {};
      s.hdf5 = {};
    }
  }
  if (s.journal) {
    s.journal->ReadInto(s.run);
    return s.run;
  }
  const FileIdentity now = IdentityOf(s.path);
  if (now != s.hdf5 || now == FileIdentity{}) s.run = now == FileIdentity{} ? RunData{} : ReadRunHdf5(s.path);
  s.hdf5 = now;
  return s.run;
}

}  // namespace dark
