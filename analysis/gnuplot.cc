#include "analysis/gnuplot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "core/files/file.h"
#include "core/files/replace_file.h"

extern char** environ;

namespace dark::analysis {
namespace {

namespace fs = std::filesystem;

class TempDir {
 public:
  TempDir() {
    std::string pattern = (fs::temp_directory_path() / "darkformer-figure-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw Error(fmt::format("{}: {}", pattern, std::strerror(errno)), Exit::kFailed);
    path_ = pattern;
  }
  ~TempDir() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  std::string operator/(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

// Returns the wait status, or throws when gnuplot cannot be started.
int Spawn(const std::string& script, const std::string& out, const std::string& messages) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(), O_WRONLY | O_CREAT, 0600);
  std::string program = "gnuplot", defaults = "--default-settings", file = script;
  char* arguments[] = {program.data(), defaults.data(), file.data(), nullptr};
  pid_t pid = 0;
  const int failure = posix_spawnp(&pid, "gnuplot", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    throw Error(fmt::format("gnuplot: {} (figures need the package gnuplot-nox)", std::strerror(failure)),
                Exit::kFailed);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

void ReplaceAll(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

// Gnuplot names every plot by its command; browsers would show that as a tip.
void DropElements(std::string& svg, const std::string& name) {
  const std::string open = "<" + name + ">", close = "</" + name + ">";
  std::string kept;
  std::size_t from = 0;
  for (std::size_t at = svg.find(open); at != std::string::npos; at = svg.find(open, from)) {
    kept.append(svg, from, at - from);
    from = svg.find(close, at) + close.size();
  }
  svg = kept.append(svg, from);
}

}  // namespace

std::string RunGnuplot(const std::string& script) {
  const TempDir dir;
  const std::string source = dir / "figure.gp", out = dir / "figure.svg", messages = dir / "messages";
  ReplaceFile(source, script);
  const int status = Spawn(source, out, messages);
  std::string svg = ReadFile(out);
  if (status != 0 || svg.find("</svg>") == std::string::npos)
    throw Error(fmt::format("gnuplot (package gnuplot-nox) failed: {}", ReadFile(messages)), Exit::kFailed);
  DropElements(svg, "title");
  DropElements(svg, "desc");
  return svg;
}

std::string InlineSvg(const std::string& svg, const std::string& id) {
  const std::size_t start = svg.find("<svg");
  std::string out = start == std::string::npos ? svg : svg.substr(start);
  for (const char* name : {"gpDot", "gpPt", "gnuplot_canvas", "gnuplot_plot_", "textbox", "greybox"})
    ReplaceAll(out, name, fmt::format("{}-{}", id, name));
  ReplaceAll(out, "fill=\"#ffffff\"", "fill=\"none\"");  // the sheet behind the figure
  // The two ways in which gnuplot writes a colour.
  for (const char* ink : {"rgb(31,35,41)", "rgb( 31,  35,  41)"}) ReplaceAll(out, ink, "var(--ink, #1f2329)");
  return out;
}

}  // namespace dark::analysis
