#pragma once

#include <chrono>
#include <csignal>

namespace dark {

/// While it lives, SIGINT, SIGTERM, SIGHUP and SIGCHLD are not delivered to this thread but wait to be taken,
/// so a driver handles them as ordinary values between two steps of its loop. A signal that the caller
/// ignores (nohup) stays ignored.
class SignalQueue {
 public:
  SignalQueue();
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  /// The next signal, or 0 when none came within `patience`.
  int Next(std::chrono::milliseconds patience) const;

 private:
  sigset_t taken_;
  sigset_t former_mask_;
  struct sigaction former_child_action_;
};

}  // namespace dark
