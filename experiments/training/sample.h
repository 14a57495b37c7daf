#pragma once

#include <functional>
#include <string>

#include "core/setting.h"

namespace dark {

/// How text is sampled from a trained run.
struct SampleOptions {
  std::string prompt = "\n";
  Index tokens = 200;
  double temperature = 0.8;  ///< 0 = always the likeliest token
  Index top_k = 0;           ///< sample among the k likeliest, 0 = all
  Index seed = 1;
};

/// Continues the prompt with the weights of `directory`/checkpoint.h5, calling `emit` with the bytes of each
/// new token. The model sees at most the last T tokens. Needs the run directory alone, not the training text.
/// Throws Error(kUsage) for an empty prompt and Error(kFailed) for files that cannot be read.
void SampleText(const std::string& directory, const SampleOptions& options,
                const std::function<void(const std::string&)>& emit);

}  // namespace dark
