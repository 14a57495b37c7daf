#include "sweeps/run_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/model/model.h"
#include "sweeps/parameter_count.h"

namespace dark {
namespace {

/// Operations of one micro-batch forward and backward. Those in double take twice as long.
double MicroBatchCost(const RunConfig& config) {
  const BatchShape shape = {config.train.batch, config.train.context, VocabOf(config.data)};
  const Model<float> model(config.model, config.attention, shape, 1);
  double flops = 0;
  for (const OpProfile& op : model.tape().Profile()) flops += op.forward_work.flops + op.backward_work.flops;
  return config.train.precision == "fp64" ? 2 * flops : flops;
}

double MicroBatches(const TrainOptions& train) {
  return static_cast<double>(train.accumulate) * static_cast<double>(train.steps);
}

}  // namespace

std::string StepShape(const RunConfig& config) {
  const TrainOptions& train = config.train;
  return fmt::format("{} train.batch={} train.context={} train.precision={}", ModelShape(config), train.batch,
                     train.context, train.precision);
}

SweepLoad LoadOf(const Sweep& sweep) {
  std::map<std::string, double> known;
  std::vector<double> costs;
  for (const Trial& trial : sweep.trials) {
    const auto [entry, is_new] = known.try_emplace(StepShape(trial.config), 0);
    if (is_new) entry->second = MicroBatchCost(trial.config);
    costs.push_back(entry->second * MicroBatches(trial.config.train));
  }
  const auto most = std::max_element(costs.begin(), costs.end());
  const Trial& heaviest = sweep.trials[static_cast<std::size_t>(most - costs.begin())];
  const TrainOptions& train = heaviest.config.train;
  const double tokens =
      MicroBatches(train) * static_cast<double>(train.batch) * static_cast<double>(train.context);
  SweepLoad load = {&heaviest, {}, *most / tokens};
  for (const double cost : costs) load.tokens.push_back(tokens * cost / *most);
  return load;
}

}  // namespace dark
