#include <fcntl.h>
#include <fmt/format.h>
#include <langinfo.h>
#include <locale.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "app/doctor_checks.h"

namespace dark {
namespace {

using Level = Finding::Level;

std::string EnvironmentText(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// A file that exists while this object lives; `fd` is -1 with errno set when it could not be made.
struct ProbeFile {
  explicit ProbeFile(const std::string& folder) : path(folder + "/.darkformer-doctor-XXXXXX") {
    fd = ::mkostemp(path.data(), O_CLOEXEC);
  }
  ~ProbeFile() {
    if (fd < 0) return;
    ::unlink(path.c_str());
    ::close(fd);
  }
  ProbeFile(const ProbeFile&) = delete;
  ProbeFile& operator=(const ProbeFile&) = delete;

  std::string path;
  int fd;
};

/// First line printed by a shell command, or "" when it failed.
std::string FirstLineOf(const char* command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command, "r"),
                                                   [](FILE* p) { return ::pclose(p); });
  char line[256] = "";
  if (pipe == nullptr || std::fgets(line, sizeof line, pipe.get()) == nullptr) return "";
  line[std::strcspn(line, "\n")] = '\0';
  return line;
}

}  // namespace

Finding CheckDisk(const std::string& subject, const std::string& folder) {
  constexpr double kGigabyte = 1e9;
  const ProbeFile probe(folder);
  if (probe.fd < 0)
    return {Level::kFail, subject, fmt::format("{}: cannot write: {}", folder, std::strerror(errno)),
            "choose a folder that you may write to"};
  struct statvfs space {};
  if (::fstatvfs(probe.fd, &space) != 0)
    return {Level::kWarn, subject, fmt::format("{}: free space unknown: {}", folder, std::strerror(errno)),
            ""};
  const double free = static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
  const std::string message = fmt::format("{}: {:.1f} GB free", folder, free / kGigabyte);
  if (free < kGigabyte / 10)
    return {Level::kFail, subject, message, "free some space: runs will end half-way"};
  if (free < kGigabyte) return {Level::kWarn, subject, message, "checkpoints of a large sweep may not fit"};
  return {Level::kOk, subject, message, ""};
}

Finding CheckLocks(const std::string& folder) {
  const char* advice = "write runs to a file system with working locks, such as a local disk";
  const ProbeFile probe(folder);
  if (probe.fd < 0)
    return {Level::kFail, "locks", fmt::format("{}: cannot write: {}", folder, std::strerror(errno)), advice};
  if (::flock(probe.fd, LOCK_EX | LOCK_NB) != 0)
    return {Level::kFail, "locks", fmt::format("{}: flock fails: {}", folder, std::strerror(errno)), advice};
  // flock belongs to an open file, so opening it again is as good as another process.
  const int second = ::open(probe.path.c_str(), O_RDWR | O_CLOEXEC);
  const bool kept_out = second >= 0 && ::flock(second, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (second >= 0) ::close(second);
  if (!kept_out)
    return {Level::kFail, "locks", fmt::format("{}: a held lock does not keep others out", folder), advice};
  return {Level::kOk, "locks", fmt::format("{}: a held lock keeps others out", folder), ""};
}

Finding CheckHdf5Locking() {
  const std::string value = EnvironmentText("HDF5_USE_FILE_LOCKING");
  if (value.empty()) return {Level::kOk, "hdf5", "HDF5_USE_FILE_LOCKING is not set", ""};
  if (value == "TRUE" || value == "1") return {Level::kOk, "hdf5", "HDF5_USE_FILE_LOCKING=" + value, ""};
  return {Level::kWarn, "hdf5", "HDF5_USE_FILE_LOCKING=" + value,
          "unset it: HDF5 then no longer refuses a second writer (runs keep their own lock all the same)"};
}

Finding CheckLocale() {
  const locale_t user = ::newlocale(LC_ALL_MASK, "", nullptr);
  if (user == nullptr)
    return {Level::kWarn, "locale", "the locale of the environment is not installed (LANG, LC_*)",
            "set LANG=C.UTF-8"};
  const std::string radix = ::nl_langinfo_l(RADIXCHAR, user);
  const std::string codeset = ::nl_langinfo_l(CODESET, user);
  ::freelocale(user);
  const std::string message = fmt::format("decimal sign '{}', {}", radix, codeset);
  if (radix != ".")
    return {Level::kWarn, "locale", message,
            "darkformer always reads and writes '.'; set LC_NUMERIC=C for tools that read its CSV"};
  return {Level::kOk, "locale", message, ""};
}

Finding CheckGnuplot() {
  const std::string version = FirstLineOf("gnuplot --version 2>/dev/null");
  if (version.empty())
    return {Level::kWarn, "gnuplot", "not found: reports need it for their figures",
            "apt-get install gnuplot-nox"};
  return {Level::kOk, "gnuplot", version, ""};
}

}  // namespace dark
