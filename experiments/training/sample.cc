#include "experiments/training/sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "core/model/model.h"
#include "data/tokenizer.h"
#include "experiments/config/run_config.h"
#include "experiments/run_file/checkpoint.h"
#include "experiments/training/run.h"
#include "experiments/training/state.h"

namespace dark {
namespace {

std::uint32_t Likeliest(const std::vector<double>& logits) {
  return static_cast<std::uint32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

// Draws from softmax(logits / temperature) over the top k.
std::uint32_t Draw(const std::vector<double>& logits, const SampleOptions& o, Stream& stream) {
  if (o.temperature == 0) return Likeliest(logits);
  std::vector<std::uint32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return logits[a] > logits[b]; });
  if (o.top_k > 0) order.resize(std::min(order.size(), static_cast<std::size_t>(o.top_k)));
  std::vector<double> cumulative;
  double sum = 0;
  for (const std::uint32_t token : order)
    cumulative.push_back(sum += std::exp((logits[token] - logits[order[0]]) / o.temperature));
  const double at = stream.Uniform() * sum;
  const auto chosen = std::upper_bound(cumulative.begin(), cumulative.end(), at) - cumulative.begin();
  return order[std::min(static_cast<std::size_t>(chosen), order.size() - 1)];
}

template <class T>
void Sample(const RunConfig& config, const Checkpoint& checkpoint, const std::string& path,
            const Tokenizer& tokenizer, const SampleOptions& o,
            const std::function<void(const std::string&)>& emit) {
  const Index context = config.train.context;
  Model<T> model(config.model, config.attention, {1, context, tokenizer.vocab()},
                 static_cast<std::uint64_t>(config.seed), OperandsOf(config.train.precision));
  model.Allocate();
  RestoreWeights(checkpoint, path, model);
  std::vector<std::uint32_t> text = tokenizer.Encode(o.prompt);
  if (text.empty()) throw Error("the prompt is empty; give at least one character");
  Stream stream(static_cast<std::uint64_t>(o.seed), "sample");
  std::vector<std::int32_t> window(static_cast<std::size_t>(context));
  const std::vector<std::int32_t> no_targets(window.size(), -1);
  std::vector<double> logits;
  for (Index i = 0; i < o.tokens; ++i) {
    // Positions after the last token hold anything: attention is causal.
    const std::size_t length = std::min(text.size(), window.size());
    std::copy(text.end() - static_cast<std::ptrdiff_t>(length), text.end(), window.begin());
    model.SetBatch(window.data(), no_targets.data());
    model.Forward();
    model.NextLogits(static_cast<Index>(length) - 1, logits);
    text.push_back(Draw(logits, o, stream));
    emit(tokenizer.Bytes(text.back()));
  }
}

}  // namespace

void SampleText(const std::string& directory, const SampleOptions& options,
                const std::function<void(const std::string&)>& emit) {
  const RunFiles files(directory);
  const Checkpoint checkpoint = LoadCheckpoint(files.checkpoint);
  const RunConfig config = ParseRunConfig(checkpoint.attributes.at("config"), files.checkpoint);
  const Tokenizer tokenizer = Tokenizer::Load(files.tokenizer);
  if (config.train.precision == "fp64") {
    Sample<double>(config, checkpoint, files.checkpoint, tokenizer, options, emit);
  } else {
    Sample<float>(config, checkpoint, files.checkpoint, tokenizer, options, emit);
  }
}

}  // namespace dark
