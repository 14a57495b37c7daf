#include "sweeps/signals.h"

#include <algorithm>
#include <ctime>

namespace dark {

SignalQueue::SignalQueue() {
  sigemptyset(&taken_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&taken_, signal);
  }
  // An inherited SIG_IGN would make the kernel reap children itself and lose their exit codes.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, &former_child_action_);
  sigaddset(&taken_, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &taken_, &former_mask_);
}

SignalQueue::~SignalQueue() {
  pthread_sigmask(SIG_SETMASK, &former_mask_, nullptr);
  sigaction(SIGCHLD, &former_child_action_, nullptr);
}

int SignalQueue::Next(std::chrono::milliseconds patience) const {
  const auto count = std::max<std::chrono::milliseconds::rep>(patience.count(), 0);
  const timespec timeout = {count / 1000, count % 1000 * 1000000};
  return std::max(0, sigtimedwait(&taken_, nullptr, &timeout));
}

}  // namespace dark
