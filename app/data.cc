#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/commands.h"
#include "app/setting_option.h"
#include "data/dataset.h"
#include "data/token_counts.h"

namespace dark {
namespace {

constexpr Index kSmallestContext = 1;  // `data` knows no model, so any text with two tokens a split will do
constexpr std::size_t kFrequent = 20;
constexpr std::size_t kSamples = 5;
constexpr std::size_t kSampleTokens = 24;

void PrintPart(const char* name, std::span<const std::uint32_t> tokens, const Dataset& data) {
  const TokenCounts counts = CountTokens(tokens, data.tokenizer());
  const double share = 100.0 * tokens.size() / (data.train().size() + data.validation().size());
  fmt::print("{:<13}{} tokens ({:.1f}%), {} bytes, {:.3f} bytes a token, {} of {} tokens used\n", name,
             tokens.size(), share, counts.bytes, static_cast<double>(counts.bytes) / tokens.size(),
             counts.Used(), data.vocab());
}

void PrintSummary(const DataOptions& options, const Dataset& data) {
  fmt::print("text         {}\n", options.text);
  fmt::print("shard        {}\n", data.path());
  fmt::print("tokenizer    {}, vocabulary {}\n", options.tokenizer, data.vocab());
  PrintPart("train", data.train(), data);
  PrintPart("validation", data.validation(), data);
  fmt::print("data hash    {}\nsplit hash   {}\n", data.data_hash(), data.split_hash());
}

void PrintFrequent(const Dataset& data) {
  const TokenCounts counts = CountTokens(data.train(), data.tokenizer());
  fmt::print("\nmost frequent tokens of the training part\n{:>7}  {:>9}  {:>6}  text\n", "token", "count",
             "%");
  for (const std::uint32_t token : counts.MostFrequent(kFrequent))
    fmt::print("{:>7}  {:>9}  {:>6.2f}  \"{}\"\n", token, counts.count[token],
               100.0 * counts.count[token] / data.train().size(), Escape(data.tokenizer().Bytes(token)));
}

void PrintSamples(const char* name, std::span<const std::uint32_t> tokens, const Tokenizer& tokenizer) {
  fmt::print("\nsamples of the {} part, tokens between bars\n", name);
  const std::size_t length = std::min(kSampleTokens, tokens.size());
  const std::size_t step = (tokens.size() - length) / kSamples + 1;
  for (std::size_t start = 0; start + length <= tokens.size(); start += step) {
    fmt::print("{:>9}  |", start);
    for (const std::uint32_t token : tokens.subspan(start, length))
      fmt::print("{}|", Escape(tokenizer.Bytes(token)));
    fmt::print("\n");
  }
}

void Inspect(const DataOptions& options) {
  const Dataset data = Dataset::Open(options, kSmallestContext);
  PrintSummary(options, data);
  PrintFrequent(data);
  PrintSamples("training", data.train(), data.tokenizer());
  PrintSamples("validation", data.validation(), data.tokenizer());
}

void Prepare(const DataOptions& options) { PrintSummary(options, Dataset::Open(options, kSmallestContext)); }

void AddAction(CLI::App& app, const char* name, const char* help, const char* examples,
               void (*action)(const DataOptions&)) {
  CLI::App* command = app.add_subcommand(name, help);
  const auto options = std::make_shared<DataOptions>();
  for (const Setting& setting : Bind(*options)) {
    CLI::Option* option = AddSettingOption(*command, setting);
    if (setting.name == "text") option->required();
  }
  command->footer(examples);
  command->callback([options, action] { action(*options); });
}

}  // namespace

void AddData(CLI::App& app, int&) {
  CLI::App* data = app.add_subcommand("data", "Turn text into tokens and look at them");
  data->require_subcommand(1);
  data->footer(
      "A run prepares its text by itself and finds it again in the cache; these commands do it ahead and "
      "show "
      "the result.\nHelp with examples: darkformer data prepare --help");
  AddAction(*data, "prepare", "Split and tokenise a text once, ahead of the runs",
            "Examples:\n"
            "  darkformer data prepare --text bible.txt\n"
            "  darkformer data prepare --text books/ --tokenizer bpe --vocab 1024 --cache /tmp/tokens",
            Prepare);
  AddAction(*data, "inspect", "Show split, most frequent tokens and samples of a text",
            "Examples:\n"
            "  darkformer data inspect --text bible.txt --tokenizer bpe --vocab 512\n"
            "  darkformer data inspect --text books/ --val-fraction 0.02",
            Inspect);
}

}  // namespace dark
