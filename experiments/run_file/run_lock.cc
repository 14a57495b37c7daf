#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include <fmt/format.h>

#include "core/error.h"
#include "core/files/file.h"
#include "experiments/run_file/run_file.h"
#include "experiments/run_file/utc_time.h"

namespace dark {
namespace {

constexpr int kTries = 50;
constexpr auto kPause = std::chrono::milliseconds(10);

std::string LockPath(const std::string& directory) { return directory + "/lock"; }

std::string FirstLine(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string Holder() {
  char host[256] = "unknown host";
  ::gethostname(host, sizeof host - 1);
  return fmt::format("pid {} on {}, boot {}, since {}\n", ::getpid(), host,
                     FirstLine("/proc/sys/kernel/random/boot_id"), UtcNow());
}

}  // namespace

RunLock::RunLock(const std::string& directory) {
  const std::string path = LockPath(directory);
  // Children must not inherit the descriptor: a plotting process that outlives us would keep the lock.
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file) throw FileError(path, "open");
  // Held() in another process takes the lock for a moment, and a repair for a little longer.
  for (int tries = 1; ::flock(file.get(), LOCK_EX | LOCK_NB) != 0; ++tries) {
    if (errno != EWOULDBLOCK && errno != EINTR) throw FileError(path, "lock");
    if (tries == kTries) {
      const std::string holder = FirstLine(path);
      throw Error(fmt::format("{}: in use by {}", directory, holder.empty() ? "another process" : holder),
                  Exit::kFailed);
    }
    std::this_thread::sleep_for(kPause);
  }
  const std::string holder = Holder();
  if (::ftruncate(file.get(), 0) != 0) throw FileError(path, "write");
  WriteAt(file, 0, std::as_bytes(std::span(holder)), path);
  fd_ = file.Release();
}

RunLock::~RunLock() { ::close(fd_); }

bool RunLock::Held(const std::string& directory) {
  const FileDescriptor file = OpenIfExists(LockPath(directory));
  return file && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace dark
