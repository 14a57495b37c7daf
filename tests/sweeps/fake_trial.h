#pragma once

#include <string>
#include <vector>

#include "sweeps/expand.h"
#include "sweeps/launcher.h"

namespace dark {

/// A program that keeps the contract of `darkformer train` but only sleeps: this test program itself, started
/// again through a wrapper script that is written into `folder`. `data.text` says how a trial ends: "ok",
/// "diverge", "fail", "crash" (SIGABRT) or "stubborn" (ignores the first requests to stop). A step lasts 5 ms
/// and every fifth saves. Each start adds a line to starts.txt in the trial's folder.
///
/// With "bench" as its first argument it is a timer of steps: 10 tokens/s, or 30 with two threads or more for
/// the text "threads", or a billion for "rapid". "untimed" fails, "mute" prints no number, "hang" never ends
/// with more than one thread. Each start adds its threads to timed.txt beside the config.
std::string WriteFakeTrainer(const std::string& folder);

/// A driver in a process of its own, so that it can be killed: runs the sweep file `spec` into `out` and
/// exits as `darkformer sweep run` does. Its output goes to `log`. Returns its process id.
pid_t StartFakeDriver(const std::string& spec, const std::string& out, const std::string& trainer,
                      const std::string& log);

/// A driver in this process without output. Returns where the trials stand.
Tally Drive(Sweep& sweep, const std::string& out, const LaunchOptions& options);

/// Options for `trainer` on the cores of this machine.
LaunchOptions OptionsFor(const std::string& trainer);

}  // namespace dark
