#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>

#include "app/commands.h"
#include "core/error.h"
#include "experiments/training/run.h"

namespace dark {
namespace {

std::atomic<bool> stop_requested{false};

// The first signal finishes the step and checkpoints; the second quits at once.
void OnSignal(int signal) {
  if (stop_requested.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

void StopOnSignals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) std::signal(signal, OnSignal);
}

// "90", "90s", "30m", "2h" in seconds.
double Seconds(const std::string& text) {
  std::size_t used = 0;
  double value = -1;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
  }
  const std::string unit = text.substr(used);
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (!(value > 0) || scale == 0)
    throw Error(fmt::format("--max-time '{}': expected a time such as 90s, 30m or 2h", text));
  return value * scale;
}

/// Plain lines, at most one a second, and one for each evaluation.
class Printer {
 public:
  void OnStep(const TrainProgress& p) {
    tokens_ += p.row.tokens;
    const Index done = p.row.step + 1 - p.first_step, left = p.steps - p.row.step - 1;
    if (p.elapsed < next_ && left > 0) return;
    next_ = p.elapsed + 1;
    fmt::print("step {}/{}  loss {:.4f}  lr {:.3g}  grad {:.3g}  {:.0f} tokens/s  ETA {:.0f} s\n",
               p.row.step + 1, p.steps, p.row.loss, p.row.lr, p.row.grad_norm,
               static_cast<double>(tokens_) / p.elapsed,
               p.elapsed / static_cast<double>(done) * static_cast<double>(left));
    std::fflush(stdout);
  }
  static void OnEvaluation(const EvalRow& row) {
    fmt::print("eval at step {}  loss {:.4f}  accuracy {:.4f}  ({} tokens)\n", row.step, row.loss,
               row.accuracy, row.tokens);
    std::fflush(stdout);
  }

 private:
  double next_ = 0;
  Index tokens_ = 0;
};

struct Options {
  std::string config, out, max_time;
  std::vector<std::string> set;
  bool resume = false, quiet = false;
  int threads = 0;
};

int Train(const Options& o) {
  const RunConfig config = LoadRunConfig(o.config, o.set);
  TrainRequest request;
  request.directory = !o.out.empty() ? o.out : "runs/" + std::filesystem::path(o.config).stem().string();
  request.resume = o.resume;
  request.threads = o.threads;
  if (!o.max_time.empty()) request.max_seconds = Seconds(o.max_time);
  request.stop = &stop_requested;
  Printer printer;
  if (!o.quiet) {
    request.on_step = [&](const TrainProgress& progress) { printer.OnStep(progress); };
    request.on_evaluation = Printer::OnEvaluation;
  }
  StopOnSignals();
  const TrainResult result = TrainRun(config, request);
  fmt::print("{}: {}\n{}/run.h5\n", Name(result.status), result.reason, request.directory);
  if (result.status == RunStatus::kStopped)
    fmt::print("continue with: darkformer train {} --out {} --resume\n", o.config, request.directory);
  return ExitCode(result.status);
}

}  // namespace

void AddTrain(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<Options>();
  CLI::App* train = app.add_subcommand("train", "Train one run");
  train->add_option("config", o->config, "Run config (YAML); darkformer keys lists what it may hold")
      ->required()
      ->type_name("CONFIG.yaml");
  train->add_option("--set", o->set, "Override a key, e.g. optim.lr=1e-3; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  train->add_option("--out", o->out, "Run directory (default runs/<config name>)")->type_name("DIR");
  train->add_flag("--resume", o->resume,
                  "Continue from the checkpoint in the run directory, if there is one");
  train
      ->add_option("--threads", o->threads,
                   "Threads (default: all cores allowed); results do not depend on it")
      ->check(CLI::Range(1, 1024));
  train->add_option("--max-time", o->max_time, "Checkpoint and stop after this time (exit code 5), e.g. 30m");
  train->add_flag("--quiet", o->quiet, "Print the result only");
  train->footer(
      "Examples:\n"
      "  darkformer train experiments/recipes/train.yaml --set data.text=book.txt\n"
      "  darkformer train run.yaml --out runs/a --max-time 30m; darkformer train run.yaml --out runs/a "
      "--resume\n"
      "Ctrl-C finishes the step, checkpoints and exits with 5; a second Ctrl-C quits at once.");
  train->callback([o, &exit_code] { exit_code = Train(*o); });
}

}  // namespace dark
