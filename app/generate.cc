#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "app/commands.h"
#include "experiments/training/sample.h"

namespace dark {

void AddGenerate(CLI::App& app, int& exit_code) {
  struct Options {
    std::string directory;
    SampleOptions sample;
  };
  auto o = std::make_shared<Options>();
  CLI::App* generate = app.add_subcommand("generate", "Sample text from a run's checkpoint");
  generate->add_option("run", o->directory, "Run directory with checkpoint.h5")->required()->type_name("DIR");
  generate->add_option("--prompt", o->sample.prompt, "Text to continue (default: a line break)");
  generate->add_option("--tokens", o->sample.tokens, "Tokens to sample")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  generate
      ->add_option("--temperature", o->sample.temperature,
                   "Softmax temperature, 0 = always the likeliest token")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  generate->add_option("--top-k", o->sample.top_k, "Sample among the k likeliest tokens, 0 = all")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  generate->add_option("--seed", o->sample.seed, "Seed of the sampling")->capture_default_str();
  generate->footer("Example:\n  darkformer generate runs/train --prompt \"In the beginning\" --tokens 300");
  generate->callback([o, &exit_code] {
    std::fwrite(o->sample.prompt.data(), 1, o->sample.prompt.size(), stdout);
    SampleText(o->directory, o->sample, [](const std::string& bytes) {
      std::fwrite(bytes.data(), 1, bytes.size(), stdout);
      std::fflush(stdout);
    });
    std::fputc('\n', stdout);
    exit_code = 0;
  });
}

}  // namespace dark
