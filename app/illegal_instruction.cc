#include <unistd.h>

#include <csignal>

// A program that was built for another processor ends at the first instruction that this one lacks, maybe
// before main(). So what it says then is set up before anything else, by code that every x86-64 runs.
#ifdef __x86_64__
#define DARKFORMER_ANY_PROCESSOR __attribute__((target("arch=x86-64")))
#else
#define DARKFORMER_ANY_PROCESSOR
#endif

namespace {

DARKFORMER_ANY_PROCESSOR void Explain(int) {
  constexpr char kMessage[] =
      "darkformer: this CPU lacks an instruction that the program was built for; "
      "build it on this machine: make clean, then build again\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  _exit(4);  // Exit::kFailed
}

DARKFORMER_ANY_PROCESSOR __attribute__((constructor(101))) void ExplainIllegalInstructions() {
  std::signal(SIGILL, Explain);
}

}  // namespace
