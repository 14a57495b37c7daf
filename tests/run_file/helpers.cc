#include "tests/run_file/helpers.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "core/error.h"

namespace dark {

StepRow StepAt(std::int64_t step) {
  Stream random(7, "step", static_cast<std::uint64_t>(step));
  StepRow row;
  row.step = step;
  row.loss = random.Normal();
  if (step % 17 == 3) row.loss = std::numeric_limits<double>::quiet_NaN();
  if (step % 17 == 4) row.loss = -std::numeric_limits<double>::infinity();
  row.lr = 1e-3 * random.Uniform();
  row.grad_norm = random.Uniform();
  row.grad_norm_clipped = random.Uniform();
  row.update_rms = 1e-300 * random.Uniform();
  row.param_norm = random.Uniform();
  row.tokens = step * 1000;
  row.seconds = random.Uniform();
  row.batch_hash = random.Bits64() | std::uint64_t{1} << 63;
  return row;
}

EvalRow EvalAt(std::int64_t step) {
  Stream random(7, "eval", static_cast<std::uint64_t>(step));
  return {step, random.Normal(), random.Uniform(), 4096};
}

HealthRow HealthAt(std::int64_t step, std::int64_t layer) {
  Stream random(7, "health", static_cast<std::uint64_t>(step * 100 + layer));
  HealthRow row;
  row.step = step;
  row.layer = layer;
  row.mx2 = random.Uniform();
  row.kernel_error = std::numeric_limits<double>::quiet_NaN();
  row.sigma_max = random.Uniform();
  row.anisotropy_k = random.Uniform();
  return row;
}

RunData SomeRun(std::int64_t steps) {
  RunData run;
  run.attributes = {
      {"name", "exact-lr1e-3-seed1"},    {"status", "done"},     {"config", "optim:\n  lr: 0.001\n"},
      {"config.optim.lr", "0.001"},      {"cpu", "naïve Ω ≤ 4"}, {"exit_reason", ""},
      {"long", std::string(100000, 'x')}};
  for (std::int64_t step = 0; step < steps; ++step) {
    run.steps.push_back(StepAt(step));
    if (step % 10 != 0) continue;
    run.evals.push_back(EvalAt(step));
    for (std::int64_t layer = 0; layer < 2; ++layer) run.health.push_back(HealthAt(step, layer));
  }
  return run;
}

bool SameSeries(const RunData& a, const RunData& b) {
  return SameRows(a.steps, b.steps) && SameRows(a.evals, b.evals) && SameRows(a.health, b.health);
}

bool SameRun(const RunData& a, const RunData& b) { return a.attributes == b.attributes && SameSeries(a, b); }

pid_t Fork(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that fails must not leave children behind
  try {
    work();
  } catch (const std::exception&) {
    ::_exit(1);
  }
  ::_exit(0);
}

int Wait(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::runtime_error("waitpid");
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

std::string ReadText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string FailureOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.exit() == Exit::kFailed ? error.what() : "";
  }
  return "";
}

}  // namespace dark
