#include <fmt/format.h>

#include <iostream>
#include <map>
#include <memory>

#include "app/bench_table.h"
#include "app/commands.h"
#include "core/error.h"
#include "experiments/benchmark/machine.h"
#include "experiments/config/run_config.h"

namespace dark {
namespace {

struct BenchRequest {
  std::string config;
  std::vector<std::string> set;
  std::vector<std::string> variants, precisions;
  std::vector<Index> contexts, features;
  std::vector<int> threads = {1};
  Index tokens = 0, vocab = 0;
  double seconds = 3;
  bool csv = false;
  bool rate = false;
  bool in_turn = false;
};

// A model of the size that small studies use, unless a config says otherwise.
constexpr const char* kDefaultModel =
    "model: {layers: 6, width: 256, heads: 4, head_dim: 64, ff: 1024}\n"
    "data: {text: none, tokenizer: bpe, vocab: 4096}\n"
    "train: {context: 512, batch: 8}\n";
const std::vector<std::string> kDefaultVariants = {"exact", "performer", "darkformer"};

RunConfig Config(const BenchRequest& request, const std::vector<std::string>& set) {
  return request.config.empty() ? ParseRunConfig(kDefaultModel, "bench", set)
                                : LoadRunConfig(request.config, set);
}

// What the command line leaves open is as in the config.
void Complete(BenchRequest& request) {
  const RunConfig config = Config(request, request.set);
  if (request.variants.empty())
    request.variants = request.config.empty() ? kDefaultVariants : std::vector{config.attention.variant};
  if (request.precisions.empty()) request.precisions = {config.train.precision};
  if (request.contexts.empty()) request.contexts = {config.train.context};
  if (request.features.empty()) request.features = {config.attention.m};
  if (request.tokens == 0) request.tokens = config.train.batch * config.train.context;
  if (request.vocab == 0) request.vocab = config.data.tokenizer == "byte" ? 256 : config.data.vocab;
}

StepCase Case(const BenchRequest& request, const std::string& variant, Index context, Index m) {
  std::vector<std::string> set = request.set;
  set.push_back("attention.variant=" + variant);
  if (m > 0) set.push_back(fmt::format("attention.m={}", m));
  const RunConfig config = Config(request, set);
  StepCase step;
  step.model = config.model;
  step.attention = config.attention;
  step.context = context;
  step.batch = std::max<Index>(1, request.tokens / context);
  step.vocab = request.vocab;
  return step;
}

std::vector<StepCase> Cases(const BenchRequest& request) {
  std::vector<StepCase> cases;
  for (const std::string& variant : request.variants) {
    const bool features = UsesFeatures(Case(request, variant, 1, 0).attention);
    for (const Index context : request.contexts)
      for (const Index m : features ? request.features : std::vector<Index>{0})
        for (const std::string& precision : request.precisions)
          for (const int threads : request.threads) {
            StepCase step = Case(request, variant, context, m);
            step.precision = precision;
            step.threads = threads;
            cases.push_back(step);
          }
  }
  return cases;
}

void PrintRate(const StepCase& step, double seconds) {
  const double tokens = static_cast<double>(step.batch * step.context);
  fmt::print("{:.1f}\n", tokens / TimeStep(step, seconds, /*beside_machine=*/false).Median());
}

// An answer ends with an empty line, so that who asks knows when its turn is.
void TimeInTurn(const StepCase& step, double seconds) {
  const std::unique_ptr<StepBench> bench = MakeStepBench(step);
  for (std::string line; std::getline(std::cin, line);) {
    const StepTiming timing = bench->Run(1, seconds, /*beside_machine=*/false);
    fmt::print("op,ms\nstep,{:.4f}\n", 1e3 * timing.Median());
    for (const OpProfile& op : timing.ops)
      fmt::print("{},{:.4f}\n", op.kind, 1e3 * (op.forward_seconds + op.backward_seconds));
    fmt::print("\n");
    std::fflush(stdout);
  }
}

int Bench(BenchRequest request) {
  Complete(request);
  const std::vector<StepCase> cases = Cases(request);  // all are checked before the first is timed
  if (request.rate) {
    for (const StepCase& step : cases) PrintRate(step, request.seconds);
    return static_cast<int>(Exit::kOk);
  }
  if (request.in_turn) {
    if (cases.size() != 1) {
      throw Error(fmt::format(
          "--in-turn times one case, not {}: name one variant, context, m, precision and number of threads",
          cases.size()));
    }
    TimeInTurn(cases.front(), request.seconds);
    return static_cast<int>(Exit::kOk);
  }
  std::map<int, MachineLimits> limits;
  for (const int threads : request.threads) limits.emplace(threads, MeasureMachine(threads));
  fmt::print("{}", request.csv ? BenchCsvHeader() : BenchHeader(cases.front(), limits));
  std::string breakdown;
  for (const StepCase& step : cases) {
    const StepTiming timing = TimeStep(step, request.seconds, /*beside_machine=*/true);
    const MachineLimits& machine = limits.at(step.threads);
    fmt::print("{}", request.csv ? BenchCsv(step, timing, machine) : BenchLine(step, timing, machine));
    std::fflush(stdout);
    if (!request.csv) breakdown += OpTable(step, timing, machine);
  }
  if (!breakdown.empty()) fmt::print("\n{}", breakdown);
  return static_cast<int>(Exit::kOk);
}

}  // namespace

void AddBench(CLI::App& app, int& exit_code) {
  auto r = std::make_shared<BenchRequest>();
  CLI::App* bench = app.add_subcommand("bench", "Time training steps against the limits of this machine");
  bench->add_option("config", r->config, "Time this run config (default: a model of 6 layers, width 256)")
      ->type_name("CONFIG.yaml");
  bench->add_option("--set", r->set, "Override a key, e.g. model.width=768; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  const auto list = [&](const std::string& name, auto& target, const std::string& help) {
    return bench->add_option(name, target, help)->delimiter(',');
  };
  list("--variants", r->variants,
       "Attention variants (default: the config's, else exact,performer,darkformer)");
  list("--contexts", r->contexts, "Sequence lengths T (default: the config's, else 512)")
      ->check(CLI::Range(1, 1 << 20));
  list("--features", r->features, "Feature counts m, for the variants that have them (default: the config's)")
      ->check(CLI::Range(1, 1 << 16));
  list("--precisions", r->precisions,
       "fp32, bf16, fp64 (default: the config's); products of bf16 count against the peak of their own "
       "instructions")
      ->check(CLI::IsMember({"fp32", "bf16", "fp64"}));
  list("--threads", r->threads, "Threads")->check(CLI::Range(1, 1024))->capture_default_str();
  bench
      ->add_option(
          "--tokens", r->tokens,
          "Tokens a step, so that the batch is tokens / T, at least 1 (default: the config's, else 4096)")
      ->check(CLI::Range(1, 1 << 24));
  bench->add_option("--vocab", r->vocab, "Vocabulary (default: the config's, else 4096)")
      ->check(CLI::Range(2, 1 << 20));
  bench->add_option("--seconds", r->seconds, "Time each case for at least this long (and three steps)")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  CLI::Option* csv = bench->add_flag("--csv", r->csv, "One line a case and op, for machines");
  CLI::Option* rate =
      bench
          ->add_flag("--rate", r->rate,
                     "Only the tokens/s of each case, a number a line; the machine is not measured")
          ->excludes(csv);
  bench
      ->add_flag(
          "--in-turn", r->in_turn,
          "Answer each line of standard input: time the one case, at least a step, and print the ms of the "
          "step and of each op in CSV and an empty line; bench/peers/in_turn.py takes turns with it")
      ->excludes(csv)
      ->excludes(rate);
  bench->footer(
      "Examples:\n"
      "  darkformer bench\n"
      "  darkformer bench --variants exact,darkformer --contexts 512,2048 --features 16,64 --threads 1,2\n"
      "  darkformer bench run.yaml --csv > step.csv");
  bench->callback([r, &exit_code] { exit_code = Bench(*r); });
}

}  // namespace dark
