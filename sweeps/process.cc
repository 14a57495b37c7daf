#include "sweeps/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include "core/error.h"

namespace dark {
namespace {

/// What the child needs, made ready before the fork: between fork and exec only async-signal-safe calls are
/// allowed, so no allocation.
struct Prepared {
  std::vector<char*> arguments;
  std::vector<std::string> variables;
  std::vector<char*> environment;
  std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> cpus{nullptr, [](cpu_set_t* s) { CPU_FREE(s); }};
  std::size_t cpu_bytes = 0;
  const char* log = nullptr;
  pid_t parent = 0;
};

/// Sent through a pipe by a child that could not become the program.
struct Failure {
  int error = 0;
  int step = 0;
};
constexpr const char* kSteps[] = {"open the log of", "pin the CPUs of", "start"};

Prepared Prepare(const Command& command) {
  Prepared ready;
  for (const std::string& argument : command.arguments)
    ready.arguments.push_back(const_cast<char*>(argument.c_str()));
  ready.arguments.push_back(nullptr);
  for (const auto& [name, value] : command.environment) ready.variables.push_back(name + "=" + value);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string name(*variable, std::strcspn(*variable, "="));
    if (command.environment.count(name) == 0) ready.environment.push_back(*variable);
  }
  for (std::string& variable : ready.variables) ready.environment.push_back(variable.data());
  ready.environment.push_back(nullptr);
  if (!command.cpus.empty()) {
    const int capacity = *std::max_element(command.cpus.begin(), command.cpus.end()) + 1;
    ready.cpus.reset(CPU_ALLOC(capacity));
    ready.cpu_bytes = CPU_ALLOC_SIZE(capacity);
    CPU_ZERO_S(ready.cpu_bytes, ready.cpus.get());
    for (const int cpu : command.cpus) CPU_SET_S(cpu, ready.cpu_bytes, ready.cpus.get());
  }
  ready.log = command.log.c_str();
  ready.parent = getpid();
  return ready;
}

[[noreturn]] void Fail(int pipe, int step) {
  const Failure failure{errno, step};
  const ssize_t written = write(pipe, &failure, sizeof failure);
  _exit(written == sizeof failure ? 126 : 127);
}

void RestoreSignals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD}) sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void BecomeProgram(const Prepared& ready, int pipe) {
  setpgid(0, 0);  // a Ctrl-C of the terminal goes to the driver, which tells its jobs in its own way
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != ready.parent) _exit(127);  // the driver died before the line above
  RestoreSignals();
  const int log = open(ready.log, O_WRONLY | O_CREAT | O_APPEND, 0666);
  const int nothing = open("/dev/null", O_RDONLY);
  if (log < 0 || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 ||
      dup2(log, STDERR_FILENO) < 0)
    Fail(pipe, 0);
  for (const int fd : {log, nothing})
    if (fd > STDERR_FILENO) close(fd);
  if (ready.cpus != nullptr && sched_setaffinity(0, ready.cpu_bytes, ready.cpus.get()) != 0) Fail(pipe, 1);
  execve(ready.arguments[0], ready.arguments.data(), ready.environment.data());
  Fail(pipe, 2);
}

}  // namespace

pid_t Start(const Command& command) {
  const Prepared ready = Prepare(command);
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0)
    throw Error(fmt::format("cannot start {}: {}", command.arguments[0], std::strerror(errno)),
                Exit::kFailed);
  const pid_t pid = fork();
  if (pid == 0) BecomeProgram(ready, pipe[1]);
  const int fork_error = errno;
  close(pipe[1]);
  Failure failure;
  ssize_t got = 0;
  if (pid > 0) {
    setpgid(pid, pid);  // also here: a signal to the group may be due before the child gets to run
    do got = read(pipe[0], &failure, sizeof failure);
    while (got < 0 && errno == EINTR);
  }
  close(pipe[0]);
  if (pid > 0 && got != sizeof failure) return pid;  // the pipe closed on exec: the program runs
  if (pid > 0) waitpid(pid, nullptr, 0);
  throw Error(fmt::format("cannot {} {}: {}", pid > 0 ? kSteps[failure.step] : "start", command.arguments[0],
                          std::strerror(pid > 0 ? failure.error : fork_error)),
              Exit::kFailed);
}

std::string ShellLine(const std::vector<std::string>& arguments) {
  std::string line;
  for (const std::string& argument : arguments) {
    if (!line.empty()) line += ' ';
    const bool plain =
        !argument.empty() && std::all_of(argument.begin(), argument.end(), [](unsigned char c) {
          return std::isalnum(c) != 0 || std::strchr("-_=./:,+@%", c) != nullptr;
        });
    if (plain) {
      line += argument;
      continue;
    }
    line += '\'';
    for (const char c : argument) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

std::string DescribeExit(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    const char* name = sigabbrev_np(signal);
    return fmt::format("killed by {} (signal {})", name ? std::string("SIG") + name : "a signal", signal);
  }
  return fmt::format("exit code {}", WEXITSTATUS(wait_status));
}

}  // namespace dark
