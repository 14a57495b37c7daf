#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>

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
  std::vector<std::string> variants = {"exact", "performer", "darkformer"};
  std::vector<Index> contexts = {512}, features = {64};
  std::vector<std::string> precisions = {"fp32"};
  std::vector<int> threads;
  Index tokens = 4096, vocab = 4096;
  double seconds = 3;
  bool csv = false;
};

// A model of the size that small studies use, unless a config says otherwise.
constexpr const char* kDefaultModel =
    "model: {layers: 6, width: 256, heads: 4, head_dim: 64, ff: 1024}\ndata: {text: none}\n";

bool HasFeatures(const std::string& variant) {
  AttentionOptions options;
  for (const VariantInfo& info : AttentionVariants())
    if (info.name == variant)
      for (const Setting& setting : info.bind(options))
        if (setting.name == "m") return true;
  return false;
}

StepCase Case(const BenchRequest& request, const std::string& variant, Index context, Index m) {
  std::vector<std::string> set = request.set;
  set.push_back("attention.variant=" + variant);
  if (m > 0) set.push_back(fmt::format("attention.m={}", m));
  const RunConfig config = request.config.empty() ? ParseRunConfig(kDefaultModel, "bench", set)
                                                  : LoadRunConfig(request.config, set);
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
  for (const std::string& variant : request.variants)
    for (const Index context : request.contexts)
      for (const Index m : HasFeatures(variant) ? request.features : std::vector<Index>{0})
        for (const std::string& precision : request.precisions)
          for (const int threads : request.threads) {
            StepCase step = Case(request, variant, context, m);
            step.precision = precision;
            step.threads = threads;
            cases.push_back(step);
          }
  return cases;
}

int Bench(BenchRequest request) {
  if (request.threads.empty()) request.threads = {1};
  const std::vector<StepCase> cases = Cases(request);  // all are checked before the first is timed
  std::map<int, MachineLimits> limits;
  for (const int threads : request.threads) limits.emplace(threads, MeasureMachine(threads));
  fmt::print("{}", request.csv ? BenchCsvHeader() : BenchHeader(cases.front(), limits));
  std::string breakdown;
  for (const StepCase& step : cases) {
    const StepTiming timing = TimeStep(step, request.seconds);
    const MachineLimits& machine = limits.at(step.threads);
    fmt::print("{}", request.csv ? BenchCsv(step, timing, machine) : BenchLine(step, timing, machine));
    std::fflush(stdout);
    breakdown += OpTable(step, timing, machine);
  }
  if (!request.csv) fmt::print("\n{}", breakdown);
  return static_cast<int>(Exit::kOk);
}

}  // namespace

void AddBench(CLI::App& app, int& exit_code) {
  auto r = std::make_shared<BenchRequest>();
  CLI::App* bench = app.add_subcommand("bench", "Time training steps against the limits of this machine");
  bench
      ->add_option("config", r->config,
                   "Take the model from this run config (default: a 6-layer model, width 256)")
      ->type_name("CONFIG.yaml");
  bench->add_option("--set", r->set, "Override a key, e.g. model.width=768; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
  bench->add_option("--variants", r->variants, "Attention variants")->delimiter(',')->capture_default_str();
  bench->add_option("--contexts", r->contexts, "Sequence lengths T")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  bench->add_option("--features", r->features, "Feature counts m, for the variants that have them")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  bench->add_option("--precisions", r->precisions, "fp32, fp64")
      ->delimiter(',')
      ->check(CLI::IsMember({"fp32", "fp64"}))
      ->capture_default_str();
  bench->add_option("--threads", r->threads, "Threads (default 1)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  bench->add_option("--tokens", r->tokens, "Tokens a step; the batch is tokens / T, at least 1")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  bench->add_option("--vocab", r->vocab, "Vocabulary")->check(CLI::Range(2, 1 << 20))->capture_default_str();
  bench->add_option("--seconds", r->seconds, "Time each case for at least this long (and three steps)")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  bench->add_flag("--csv", r->csv, "One line a case and op, for machines");
  bench->footer(
      "Examples:\n"
      "  darkformer bench\n"
      "  darkformer bench --variants exact,darkformer --contexts 512,2048 --features 16,64 --threads 1,2\n"
      "  darkformer bench run.yaml --csv > step.csv");
  bench->callback([r, &exit_code] { exit_code = Bench(*r); });
}

}  // namespace dark
